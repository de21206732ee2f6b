"""Defines the command `grader requests`: students' requests for a regrade, and the answers."""

import argparse
from pathlib import Path

from grader.commands.shared import Command


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="?", default="", metavar="ASSIGNMENT", help="default: every assignment")
    parser.add_argument("--all", action="store_true", help="also those that are answered")
    parser.add_argument(
        "--answer", nargs=2, metavar=("ID", "TEXT"),
        help="answer a request; the student reads the text, and the points before and now"
    )  # fmt: skip


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.requests.requests import answered, lines

    course_dir = CourseDir(Path.cwd())
    if parsed.answer:
        print(answered(course_dir, *parsed.answer))
        return 0
    for line in lines(course_dir, parsed.assignment, with_answered=parsed.all):
        print(line)
    return 0


COMMANDS = (Command("requests", "list and answer the students' requests for a regrade", _options, _run),)
