"""Defines the command `grader release`."""

import argparse
import os
from pathlib import Path

from grader.commands.shared import Command, add_anyway, note, show
from grader.errors import GraderError


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    add_anyway(parser)


def _run(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.release import release, release_common
    from grader.classroom.source.student_zero import sound
    from grader.classroom.student import load_assignment

    course_dir, status = CourseDir(Path.cwd()), 0
    for assignment in parsed.assignment or course_dir.assignments():
        try:
            sound(course_dir, load_assignment(course_dir, assignment, sandbox=True), anyway=parsed.anyway, note=note)
            release(course_dir, assignment)
        except GraderError as error:
            show(error)
            status = 1
        else:
            print(f"released {os.path.relpath(course_dir.folder('release', assignment))}")
    release_common(course_dir)
    return status


COMMANDS = (Command("release", "write release/ from source/", _options, _run),)
