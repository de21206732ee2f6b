"""Defines the command line of `grader`: the commands and their options."""

import argparse
from pathlib import Path

ANSWERS = Path("tests", "correct_answers")
"""Where a course keeps right answers in other styles than its own."""


def parser() -> argparse.ArgumentParser:
    """Return the parser; what it returns has the name of the command in `command`."""
    program = argparse.ArgumentParser(
        prog="grader", description="Release and grade the assignments of a course folder; run it in that folder."
    )
    commands = program.add_subparsers(required=True, metavar="COMMAND")

    release = commands.add_parser("release", help="write release/ from source/")
    release.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    release.set_defaults(command="release")

    grade = commands.add_parser("grade", help="grade submitted/ into gradebook.db, autograded/ and feedback/")
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="grade only this student (may be repeated)"
    )
    grade.add_argument(
        "--jobs", type=_jobs, default=0, metavar="N", help="students graded at a time (default, maximum: one per core)"
    )
    grade.add_argument("--force", action="store_true", help="also grade submissions that have not changed")
    instead = grade.add_mutually_exclusive_group()
    instead.add_argument(
        "--changed", action="store_true", help="show whose points change and by which test, and ask before writing"
    )
    instead.add_argument(
        "--explain", metavar="STUDENT", help="print what this student's score is made of, and grade no one"
    )
    grade.add_argument("--yes", action="store_true", help="with --changed: write without asking")
    grade.add_argument("--no-sandbox", action="store_true", help="do not confine student code (only if you trust it)")
    grade.add_argument(
        "--scheduler", default="", metavar="ADDRESS",
        help="grade on a cluster of dask: tcp://HOST:PORT of its scheduler, or local:N for N workers on this machine"
    )  # fmt: skip
    grade.set_defaults(command="grade")

    setup = commands.add_parser(
        "worker-setup", help="make the workers of a cluster ready, or say why they cannot grade"
    )
    setup.add_argument("scheduler", metavar="ADDRESS", help="tcp://HOST:PORT of the scheduler")
    setup.add_argument("--no-sandbox", action="store_true", help="do not ask whether they can confine student code")
    setup.set_defaults(command="worker-setup")

    report = commands.add_parser("report", help="write what a class understood, and what not, into reports/")
    report.add_argument("assignment", metavar="ASSIGNMENT")
    report.add_argument("--anonymous", action="store_true", help="numbers in place of names")
    report.add_argument("--follow", action="store_true", help="write it again when there are new results, until Ctrl-C")
    report.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: reports/ASSIGNMENT)")
    report.add_argument(
        "--draft-mistake", metavar="KEY",
        help="print an entry for misconceptions/ that behaves like this unnamed group of the report"
    )  # fmt: skip
    report.set_defaults(command="report")

    check = commands.add_parser("check", help="grade one notebook or a folder of them, without a gradebook")
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="a notebook, or a folder with notebooks")
    check.add_argument("--exercise", metavar="NAME", help="only this exercise, and the cells before it")
    shown = check.add_mutually_exclusive_group()
    shown.add_argument("--watch", action="store_true", help="check at every save, and show what has changed")
    shown.add_argument("--solution", metavar="EXERCISE", help="print our solution, once yours has all points")
    shown.add_argument("--json", action="store_true", help="print the report as JSON (docs/report.schema.json)")
    check.add_argument(
        "--no-daemon", action="store_true", help="neither use nor start the process that makes the next check fast"
    )
    check.add_argument("--no-sandbox", action="store_true", help="do not confine the notebook's code")
    check.add_argument(
        "--trust", action="store_true", help="run the configuration and tests of a course folder that is new to you"
    )
    check.set_defaults(command="check")

    serve = commands.add_parser("serve", help="take notebooks over HTTP and grade them on arrival")
    serve.add_argument("--bind", default="", metavar="HOST:PORT", help="where to listen (default: 127.0.0.1:8765)")
    serve.add_argument("--certfile", type=Path, metavar="FILE", help="certificate for TLS, in PEM format")
    serve.add_argument("--keyfile", type=Path, metavar="FILE", help="key of the certificate, if it is in another file")
    serve.add_argument(
        "--jobs", type=_jobs, default=0, metavar="N", help="notebooks graded at a time (default, maximum: one per core)"
    )
    serve.add_argument(
        "--scheduler", default="", metavar="ADDRESS",
        help="grade on a cluster of dask: tcp://HOST:PORT of its scheduler, or local:N for N workers on this machine"
    )  # fmt: skip
    serve.add_argument("--no-sandbox", action="store_true", help="do not confine student code (only if you trust it)")
    serve.set_defaults(command="serve")

    tokens = commands.add_parser("tokens", help="make a token for each student who has none, into tokens.csv")
    tokens.add_argument("roster", type=Path, metavar="ROSTER", help="CSV file of the students, as for grader roster")
    tokens.add_argument("--id-column", default="", metavar="NAME", help="the column that holds the students' ids")
    tokens.add_argument(
        "--renew", action="append", default=[], metavar="NAME", help="replace this student's token (may be repeated)"
    )
    tokens.set_defaults(command="tokens")

    roster = commands.add_parser("roster", help="add the students of a CSV file to the gradebook, or update them")
    roster.add_argument(
        "roster", type=Path, metavar="ROSTER",
        help="CSV file with nbgrader's columns (id, first_name, ...), Canvas's gradebook, or Moodle's participants"
    )  # fmt: skip
    roster.add_argument(
        "--id-column", default="", metavar="NAME",
        help="the column that holds the students' ids, which name their folders (default: the platform's login)"
    )  # fmt: skip
    roster.set_defaults(command="roster")

    take_in = commands.add_parser("import", help="put the submissions in a platform's archive into submitted/")
    take_in.add_argument("archive", type=Path, metavar="ARCHIVE", help="zip archive of an assignment's submissions")
    take_in.add_argument("--assignment", required=True, metavar="NAME", help="the assignment in source/")
    take_in.add_argument(
        "--for", dest="platform", choices=("canvas", "moodle"), default="",
        help="whose archive it is (default: the names of its files tell)"
    )  # fmt: skip
    take_in.add_argument(
        "--worksheet", type=Path, metavar="FILE",
        help="Moodle's grading worksheet: it has the students' addresses, and the times of their submissions"
    )  # fmt: skip
    take_in.add_argument(
        "--time-zone", default="", metavar="ZONE", help="time zone of the times in the worksheet, such as Europe/Berlin"
    )
    take_in.add_argument("--replace", action="store_true", help="also replace submissions that may be newer")
    take_in.set_defaults(command="import")

    export = commands.add_parser("export", help="write grades as Canvas, Moodle or a spreadsheet take them in")
    export.add_argument("assignment", nargs="+", metavar="ASSIGNMENT")
    export.add_argument(
        "--for", dest="platform", choices=("canvas", "moodle", "csv"), required=True, help="who takes them in"
    )
    export.add_argument("--output", type=Path, metavar="FILE", help="default: grades.csv or grades-PLATFORM.csv")
    export.add_argument(
        "--template", type=Path, metavar="FILE",
        help="Canvas's gradebook, or Moodle's grading worksheet, as downloaded there: its cells are filled in"
    )  # fmt: skip
    export.add_argument(
        "--column", action="append", default=[], metavar="TITLE",
        help="the assignment's title in Canvas, if it is another (one for each assignment, in order)"
    )  # fmt: skip
    export.add_argument("--comments", action="store_true", help="for Moodle, also write the points of each notebook")
    export.add_argument("--unmarked", action="store_true", help="also points of students who wait for marking")
    export.set_defaults(command="export")

    prove = commands.add_parser("prove", help="try the tests on known mistakes, right answers and generated mutants")
    prove.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    prove.add_argument(
        "--exercise", action="append", default=[], metavar="NAME", help="prove only this exercise (may be repeated)"
    )
    prove.add_argument(
        "--answers",
        type=Path,
        metavar="FOLDER",
        help=f"right answers in other styles (default: {ANSWERS})",
    )
    prove.add_argument("--tenth", type=int, metavar="SEED", help="grade a tenth of the answers, drawn by SEED")
    prove.add_argument(
        "--draws",
        type=_count,
        default=0,
        metavar="N",
        help="run the tests with N other draws of their random numbers too, on right answers, known mistakes and "
        "surviving mutants (with --tenth, on all its mutants), and list tests whose own draw misses what others find; "
        "the exit status is 1 if a right answer or a survivor keeps its points by luck",
    )
    prove.add_argument(
        "--jobs", type=_jobs, default=0, metavar="N", help="answers graded at a time (default, maximum: one per core)"
    )
    prove.add_argument("--json", action="store_true", help="print the matrices as JSON")
    prove.add_argument("--no-sandbox", action="store_true", help="do not confine the answers")
    prove.set_defaults(command="prove")

    doctor = commands.add_parser("doctor", help="try out how well this machine confines student code")
    doctor.add_argument("--json", action="store_true", help="print the examination as JSON")
    doctor.set_defaults(command="doctor")
    return program


def _jobs(number: str) -> int:
    if int(number) < 0:
        raise argparse.ArgumentTypeError(f"expected 1 or more, or 0 for one per core; got {number}")
    return int(number)


def _count(number: str) -> int:
    if int(number) < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more; got {number}")
    return int(number)
