"""Defines the command `grader release`."""

import argparse
import os
from pathlib import Path

from grader.commands.shared import Command, add_anyway, note


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    add_anyway(parser)


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.release import release, release_start
    from grader.classroom.student import load_assignment
    from grader.classroom.student_zero import sound

    course_dir = CourseDir(Path.cwd())
    for assignment in parsed.assignment or course_dir.assignments():
        sound(course_dir, load_assignment(course_dir, assignment, sandbox=True), anyway=parsed.anyway, note=note)
        release(course_dir, assignment)
        print(f"released {os.path.relpath(course_dir.folder('release', assignment))}")
    release_start(course_dir)
    return 0


COMMANDS = (Command("release", "write release/ from source/", _options, _run),)
