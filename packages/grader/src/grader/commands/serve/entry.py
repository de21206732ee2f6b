"""The commands `grader serve` and `grader tokens`."""

import argparse
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from grader.classroom.config import load_config
from grader.commands.shared import (
    Command,
    add_anyway,
    add_jobs,
    add_no_sandbox,
    add_scheduler,
    note,
    prepare,
    require_dask,
    start_up,
)


def _serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bind", default="", metavar="HOST:PORT", help="where to listen (default: 127.0.0.1:8765)")
    parser.add_argument("--certfile", type=Path, metavar="FILE", help="certificate for TLS, in PEM format")
    parser.add_argument("--keyfile", type=Path, metavar="FILE", help="key of the certificate, if it is in another file")
    add_jobs(parser, "notebooks")
    add_scheduler(parser)
    add_anyway(parser)
    add_no_sandbox(parser, "do not confine student code (only if you trust it)")


def _serve(parsed: argparse.Namespace) -> int:
    with start_up():
        prepare(Path.cwd())
        from grader.classroom.course_dir import CourseDir
        from grader.commands.serve.main import Options, serve

    course_dir = CourseDir(Path.cwd())
    options = Options(
        parsed.bind,
        parsed.jobs,
        sandbox=not parsed.no_sandbox,
        certfile=parsed.certfile,
        keyfile=parsed.keyfile,
        anyway=parsed.anyway,
    )
    if not parsed.scheduler:
        return serve(course_dir, options)
    require_dask()
    from grader.commands.cluster.submission_grader import SubmissionGrader

    with closing(SubmissionGrader(parsed.scheduler, course_dir, note)) as cluster:
        return serve(course_dir, replace(options, grade=cluster.grade, jobs=parsed.jobs or cluster.at_once))


def _tokens_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("roster", type=Path, metavar="ROSTER", help="CSV file of the students, as for grader roster")
    parser.add_argument("--id-column", default="", metavar="NAME", help="the column that holds the students' ids")
    parser.add_argument(
        "--renew", action="append", default=[], metavar="NAME", help="replace this student's token (may be repeated)"
    )


def _tokens(parsed: argparse.Namespace) -> int:
    from grader.classroom.students.roster import read_roster
    from grader.commands.serve.accounts import TOKENS, make_tokens

    load_config(Path.cwd())  # tokens belong into a course folder
    roster = read_roster(parsed.roster, parsed.id_column)
    for line in roster.left_out:
        note(line)
    tokens = make_tokens(Path.cwd(), roster.require_usable(), parsed.renew)
    if tokens:
        print(f"wrote the tokens of {len(tokens)} students to {TOKENS}: hand them out, and remove the file")
    else:
        print("every student has a token: use --renew NAME for one who lost it")
    return 0


COMMANDS = (
    Command("serve", "take notebooks over HTTP and grade them on arrival", _serve_options, _serve),
    Command("tokens", "make a token for each student who has none, into tokens.csv", _tokens_options, _tokens),
)
