"""The commands `grader serve` and `grader tokens`."""

import argparse
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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
from grader.errors import GraderError
from grader.text import one_line, plural

if TYPE_CHECKING:
    from grader.classroom.students.roster import EnrolledStudent


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
    parser.add_argument(
        "--url", default="", metavar="URL",
        help="address of the service: also write a hand_in.toml for each student, into hand_in_files/STUDENT/"
    )  # fmt: skip
    parser.add_argument(
        "--worksheet", type=Path, metavar="FILE",
        help="Moodle's grading worksheet: write these files into an archive that Moodle hands out as feedback files"
    )  # fmt: skip


def _tokens(parsed: argparse.Namespace) -> int:
    from grader.classroom.students.roster import read_roster
    from grader.commands.serve.accounts import (
        TOKENS,
        make_tokens,
        require_url,
        write_moodle_archive,
        write_settings,
    )

    load_config(Path.cwd())  # tokens belong in a course folder
    if parsed.worksheet and not parsed.url:
        raise GraderError("--worksheet says who gets which hand_in.toml: give the address for these files with --url")
    url = require_url(parsed.url) if parsed.url else ""
    roster = read_roster(parsed.roster, parsed.id_column)
    for line in roster.left_out:
        note(line)
    students = roster.require_usable()
    places = _moodle_places(parsed.worksheet, roster.entries) if parsed.worksheet else {}
    if absent := [student for student in (*students, *parsed.renew) if parsed.worksheet and student not in places]:
        raise GraderError(
            f"{parsed.worksheet} has no row for {', '.join(map(one_line, absent[:5]))}: give the worksheet of an "
            "assignment of all students, or leave it out"
        )
    tokens = make_tokens(Path.cwd(), students, parsed.renew, {entry.id: entry for entry in roster.entries})
    if not tokens:
        print("every student has a token: use --renew NAME for one who lost it")
        return 0
    print(f"wrote the tokens of {plural(len(tokens), 'student')} to {TOKENS}: hand them out, and remove the file")
    if url:
        where = (
            write_moodle_archive(Path.cwd(), tokens, url, places) if places else write_settings(Path.cwd(), tokens, url)
        )
        print(f"wrote a hand_in.toml for each of them to {where}: hand these out, and remove them as well")
    return 0


def _moodle_places(worksheet: Path, entries: "Iterable[EnrolledStudent]") -> dict[str, str]:
    """Return the name by which Moodle knows each student's folder in an archive of feedback files."""
    from grader.commands.lms.identities import EnrolledStudents
    from grader.commands.lms.moodle import folder_in_archive, read_worksheet

    enrolled, places = EnrolledStudents(entries), dict[str, str]()
    for participant, identity in read_worksheet(worksheet).identities.items():
        with suppress(GraderError):  # a person in Moodle who is not in the roster, such as a teacher
            places[enrolled.find(identity)] = folder_in_archive(identity.name, participant)
    return places


COMMANDS = (
    Command("serve", "take notebooks over HTTP and grade them on arrival", _serve_options, _serve),
    Command("tokens", "make a token for each student who has none, into tokens.csv", _tokens_options, _tokens),
)
