"""Defines the command `grader release`."""

import argparse
import os
from pathlib import Path

from grader.commands.shared import Command


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.release import release, release_start

    course_dir = CourseDir(Path.cwd())
    for assignment in parsed.assignment or course_dir.assignments():
        release(course_dir, assignment)
        print(f"released {os.path.relpath(course_dir.folder('release', assignment))}")
    release_start(course_dir)
    return 0


COMMANDS = (Command("release", "write release/ from source/", _options, _run),)
