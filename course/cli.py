"""python -m course: release, grade and demo, run in a course folder as nbgrader is."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from course.errors import CourseError

# The classroom and what it brings (nbgrader, SQLAlchemy) are imported where they are used, so that --help is quick.


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns 0 when all of it was done, 1 when something was not, with a line saying what."""
    parsed = _parser().parse_args(arguments)
    try:
        return parsed.run(parsed)
    except CourseError as error:
        print(f"course: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    release = commands.add_parser("release", help="write release/ from source/")
    release.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    release.set_defaults(run=_release)

    grade = commands.add_parser("grade", help="grade submitted/ into gradebook.db, autograded/ and feedback/")
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.set_defaults(run=_grade)

    demo = commands.add_parser("demo", help="grade the class in examples/ in a course folder of its own, demo/")
    demo.set_defaults(run=_demo)
    return parser


def _release(parsed: argparse.Namespace) -> int:
    from course.classroom import Classroom
    from course.release import release

    classroom = Classroom(Path.cwd())
    for assignment in parsed.assignment or classroom.assignments():
        release(classroom, assignment)
        print(f"released {os.path.relpath(classroom.folder('release', assignment))}")
    return 0


def _grade(parsed: argparse.Namespace) -> int:
    return _grade_and_show(Path.cwd(), parsed.assignment)


def _demo(parsed: argparse.Namespace) -> int:
    from course.demo import prepare

    folder, assignments = prepare(Path.cwd())
    for assignment in assignments:
        _grade_and_show(folder, assignment)
    where = os.path.relpath(folder)
    print(f"Feedback for each student: {where}/feedback/. To mark the written answers: cd {where} && jupyter lab")
    # That the class holds a notebook nobody can read is part of the show, not a failure of it.
    return 0


def _grade_and_show(folder: Path, assignment: str) -> int:
    from course.classroom import Classroom
    from course.grading.class_run import grade_class
    from course.scores import scores, table

    classroom = Classroom(folder)
    console = Console()
    with console.status(f"grading {assignment}") as status:
        troubles = grade_class(classroom, assignment, lambda student: status.update(f"grading {assignment}: {student}"))
    console.print(table(assignment, scores(classroom, assignment), troubles))
    return 1 if troubles else 0
