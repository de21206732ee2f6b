"""Finds the folders and files that bear the name of a student or an assignment."""

from collections.abc import Iterable, Iterator
from glob import escape
from itertools import chain, count
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Student
from sqlalchemy import select

from grader.classroom.config import Grader
from grader.classroom.course_dir import CourseDir
from grader.classroom.returned import RETURNED
from grader.classroom.submitted.times import times_file
from grader.commands.shared import HAND_IN_FILES, REPORTS

Move = tuple[Path, Path]
OF_STUDENTS = ("submitted", "autograded", "feedback")
REMOVED = "removed"
"""The folder of a course that keeps the files of students who were removed."""


def student_moves(course_dir: CourseDir, before: str, after: str) -> list[Move]:
    """Return what moves when a student gets another name: each folder as a whole, with all that is in it.

    Args:
        course_dir: the course folder.
        before: the student's name.
        after: the new name.
    """
    moves = (
        move
        for assignment in _assignments(course_dir)
        for step in OF_STUDENTS
        for move in _outermost(course_dir, step, assignment, before, after)
    )
    folders = (course_dir.root / name for name in (RETURNED, HAND_IN_FILES))
    return _present([*moves, *((folder / before, folder / after) for folder in folders)])


def removal_moves(course_dir: CourseDir, student: str) -> list[Move]:
    """Return what moves into `removed/` when a student is removed.

    Args:
        course_dir: the course folder.
        student: the student's name.
    """
    root = Path(course_dir.directory.root).resolve()
    names = (student if number == 1 else f"{student}-{number}" for number in count(1))
    place = next(place for name in names if not (place := root / REMOVED / name).exists())

    def target(path: Path) -> Path:
        return place / path.relative_to(root if path.is_relative_to(root) else path.anchor)

    return [(path, target(path)) for path, _ in student_moves(course_dir, student, student)]


def assignment_moves(course_dir: CourseDir, before: str, after: str) -> list[Move]:
    """Return what moves when an assignment gets another name.

    Args:
        course_dir: the course folder.
        before: the assignment's name.
        after: the new name.
    """
    root, course = course_dir.root, course_dir.folder
    answers = root / Grader(config=course_dir.config).right_answers
    single = [
        *((course(step, before), course(step, after)) for step in ("source", "release")),
        *((folder / before, folder / after) for folder in (root / REPORTS, answers)),
    ]
    each = [
        (course(step, before, student), course(step, after, student))
        for step in OF_STUDENTS
        for student in [".source", *_students(course_dir, before)]
    ]
    times = [(times_file(old), times_file(new)) for old, new in each]
    returned = [(folder, folder.with_name(after)) for folder in (root / RETURNED).glob(f"*/{escape(before)}")]
    return _present(chain(single, each, times, returned))


def _outermost(course_dir: CourseDir, step: str, assignment: str, before: str, after: str) -> Iterator[Move]:
    """Yield the folder nearest to the course's that bears the student's name, and the times beside a submission."""
    old, new = (course_dir.folder(step, assignment, student) for student in (before, after))
    first, second = (course_dir.folder(step, assignment, student) for student in ("a", "b"))
    depth = next(
        number for number, (one, other) in enumerate(zip(first.parts, second.parts, strict=True)) if one != other
    )
    yield Path(*old.parts[: depth + 1]), Path(*new.parts[: depth + 1])
    if depth + 1 == len(old.parts):
        yield times_file(old), times_file(new)


def _present(moves: Iterable[Move]) -> list[Move]:
    """Return the moves of what is there, each once."""
    return [(old, new) for old, new in dict.fromkeys(moves) if old.is_symlink() or old.exists()]


def _assignments(course_dir: CourseDir) -> list[str]:
    """Return the assignments of source/ and of the gradebook, and a name for the folders of other ones."""
    return sorted({"x", *course_dir.assignments(), *_names(course_dir, Assignment.name)})


def _students(course_dir: CourseDir, assignment: str) -> list[str]:
    return sorted({*course_dir.known_students(assignment), *_names(course_dir, Student.id)})


def _names(course_dir: CourseDir, column: Any) -> list[str]:
    if not course_dir.has_gradebook():
        return []
    with course_dir.gradebook() as gradebook:
        return list(gradebook.db.scalars(select(column)))
