"""Defines the command `grader extend`."""

import argparse
from pathlib import Path

from grader.commands.shared import Command


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("student", metavar="STUDENT")
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "date", nargs="?", metavar="DATE",
        help="the student's due date, such as '2026-12-24 18:00 Europe/Berlin'; without a zone it is in UTC, and "
        "without a time it is the end of that day"
    )  # fmt: skip
    what.add_argument("--remove", action="store_true", help="remove the extension")
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason, for the record")
    parser.add_argument("--past", action="store_true", help="allow a date in the past, which forgives a late hand-in")


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.extend.extension import due_date, extend

    until = None if parsed.remove else due_date(parsed.date, allow_past=parsed.past)
    for line in extend(CourseDir(Path.cwd()), parsed.student, parsed.assignment, until, parsed.why):
        print(line)
    return 0


COMMANDS = (Command("extend", "give one student a later due date", _options, _run),)
