"""Defines the command `grader feedback`."""

import argparse
from pathlib import Path

from grader.commands.shared import Command, note


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="only this student (may be repeated)"
    )
    parser.add_argument(
        "--unmarked", action="store_true", help="also return work in which an answer still waits for a mark"
    )


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.feedback.feedback import Feedback

    feedback = Feedback(CourseDir(Path.cwd()), parsed.assignment, unmarked=parsed.unmarked)
    for error in feedback.give(parsed.student):
        note(error)
    for line in feedback.summary():
        print(line)
    return 1 if feedback.errors else 0


COMMANDS = (Command("feedback", "write the pages after marking, and return them to the students", _options, _run),)
