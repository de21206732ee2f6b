"""Marks that were given in the formgrader are found by the next command, once, with what was there before."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.catch_up import catch_up
from grader.classroom.record.entry import FORMGRADER, GRADER, Entry, Kind
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, released


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a graded student."""
    folder = make_course(tmp_path_factory.mktemp("graded") / "course")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    assert grade_class(folder) == ["ann"]
    return folder


@pytest.fixture
def course_dir(graded: Path) -> Iterator[CourseDir]:
    """The course before anything was marked; afterwards it is as before."""
    names = "gradebook.db", "record.jsonl"
    kept = {name: (graded / name).read_bytes() for name in names if (graded / name).exists()}
    yield CourseDir(graded)
    for name in names:
        (graded / name).unlink(missing_ok=True)
    for name, content in kept.items():
        (graded / name).write_bytes(content)


def change(course_dir: CourseDir, action: Callable[[Gradebook], object]) -> None:
    """Change the gradebook past the record."""
    with course_dir.gradebook() as gradebook:
        action(gradebook)
        gradebook.db.commit()


def mark(course_dir: CourseDir, cell: str, manual: float | None, extra: float | None = None) -> None:
    """Give points as the formgrader does."""

    def give(gradebook: Gradebook) -> None:
        grade = gradebook.find_grade(cell, "small", NAME, "ann")
        grade.manual_score, grade.extra_credit = manual, extra

    change(course_dir, give)


def found(course_dir: CourseDir) -> list[tuple[str, str, object, object]]:
    """What is found now: kind, cell, before, after, all by the formgrader. A second look finds nothing."""
    new = catch_up(course_dir)
    assert all((entry.who, entry.student, entry.assignment) == (FORMGRADER, "ann", NAME) for entry in new)
    assert catch_up(course_dir) == []
    return [(entry.kind, entry.cell, entry.before, entry.after) for entry in new]


def test_points_of_the_formgrader_are_found(course_dir: CourseDir) -> None:
    """A mark of an answer, an override of a test, extra credit; then other points; then none."""
    assert found(course_dir) == []
    mark(course_dir, "why", 0.0, 0.5)
    mark(course_dir, "two-check", 2.5)
    assert found(course_dir) == [
        ("override", "two-check", None, 2.5), ("mark", "why", None, 0.0), ("extra-credit", "why", None, 0.5)
    ]  # fmt: skip
    mark(course_dir, "why", 1.0, 0.5)
    assert found(course_dir) == [("mark", "why", 0.0, 1.0)]
    mark(course_dir, "why", 1.0, 0.0)
    mark(course_dir, "two-check", None)
    assert found(course_dir) == [("override", "two-check", 2.5, None), ("extra-credit", "why", 0.5, None)]


def test_what_is_in_the_record_is_not_found_again(course_dir: CourseDir) -> None:
    """A command that wrote its own entry keeps its name; a mark that never arrived in the gradebook is taken back."""
    assert course_dir.record
    own = Entry(kind=Kind.MARK, who="mia", student="ann", assignment=NAME, notebook="small", cell="why", after=1.0)
    course_dir.record.append([own])
    mark(course_dir, "why", 1.0)
    assert found(course_dir) == []
    mark(course_dir, "why", None)
    assert found(course_dir) == [("mark", "why", 1.0, None)]


def test_marks_follow_a_rename_and_go_with_their_cell_or_student(course_dir: CourseDir) -> None:
    """The record knows the marks under the new name of an assignment.

    A source without the cell takes the mark away, which is not the formgrader's doing, and the entry says so. A student
    who is removed is one entry, not one for each mark.
    """
    mark(course_dir, "why", 1.0)
    mark(course_dir, "two-check", 2.5)
    assert len(found(course_dir)) == 2
    change(course_dir, lambda gradebook: setattr(gradebook.find_assignment(NAME), "name", "renamed"))
    assert course_dir.record
    course_dir.record.append([Entry(kind=Kind.RENAME, who="mia", before=NAME, after="renamed")])
    assert catch_up(course_dir) == []

    def remove(gradebook: Gradebook) -> None:
        gradebook.db.delete(gradebook.find_grade("why", "small", "renamed", "ann"))
        gradebook.db.delete(gradebook.find_grade_cell("why", "small", "renamed"))

    change(course_dir, remove)
    (entry,) = catch_up(course_dir)
    assert (entry.who, entry.before, entry.after) == (GRADER, 1.0, None) and "no longer" in entry.why
    change(course_dir, lambda gradebook: gradebook.remove_student("ann"))
    (removal,) = catch_up(course_dir)
    assert (removal.kind, removal.who, removal.student) == (Kind.REMOVAL, GRADER, "ann")
    assert catch_up(course_dir) == []


def test_a_course_without_a_gradebook_stays_without(tmp_path: Path) -> None:
    """Nothing is made, neither gradebook nor record."""
    folder = make_course(tmp_path / "course")
    (folder / "gradebook.db").unlink(missing_ok=True)
    assert catch_up(CourseDir(folder)) == []
    assert not (folder / "gradebook.db").exists() and not (folder / "record.jsonl").exists()
