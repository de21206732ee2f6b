"""The command `grader mark`."""

import argparse
from pathlib import Path

from grader.commands.shared import Command, start_up


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", metavar="ASSIGNMENT", nargs="?", default="", help="default: all assignments")
    parser.add_argument(
        "--marker", action="append", default=[], metavar="NAME",
        help="a person who marks, with a link of their own (may be repeated; default: your account)"
    )  # fmt: skip
    parser.add_argument("--bind", default="", metavar="HOST:PORT", help="where to listen (default: 127.0.0.1:8766)")
    parser.add_argument("--no-browser", action="store_true", help="print the link, and do not open it")


def _run(parsed: argparse.Namespace) -> int:
    with start_up():
        from grader.classroom.course_dir import CourseDir
        from grader.commands.mark.main import Options, mark

    options = Options(parsed.assignment, parsed.marker, parsed.bind, not parsed.no_browser)
    return mark(CourseDir(Path.cwd()), options)


COMMANDS = (Command("mark", "open a page on which people mark written answers, question by question", _options, _run),)
