"""Marks are written as the formgrader writes them, over what the person saw or not at all."""

import shutil
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import CellCount, MarkBook, MarkChanged, NewMark
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.submitted.times import record_time
from grader.errors import GraderError
from tests.commands.mark.marked_course import NAME, by_formgrader, grade, make_mixed
from tests.support.small_class import HALF, configure

WHY, TEST = ("essay", "why"), ("essay", "two-check")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class; tests do not change it."""
    return make_mixed(tmp_path_factory.mktemp("marks") / "course", HALF).root


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> CourseDir:
    """A copy of the class to change."""
    return CourseDir(shutil.copytree(graded, tmp_path / "course"))


def rows(course: CourseDir) -> list[Any]:
    """Return everything that the gradebook holds of grades, comments and penalties, without the comparison."""
    with sqlite3.connect(course.root / "gradebook.db") as database:
        tables = ("grade", "comment", "submitted_notebook")
        return [database.execute(f"select * from {table} order by id").fetchall() for table in tables]


def given(course: CourseDir, student: str, points: float | None, comment: str | None = None) -> None:
    """Give a mark over what is in the gradebook now; without points, the cell waits."""
    book = MarkBook(course, NAME)
    book.write([(book.read(WHY)[student], NewMark(points, comment, points is None))])
    book.close()


def test_a_mark_is_that_of_the_formgrader(graded: Path, tmp_path: Path) -> None:
    """All rows are the same after either, for points with a comment, and after taking them back."""
    ours, theirs = (CourseDir(shutil.copytree(graded, tmp_path / name)) for name in ("ours", "theirs"))
    given(ours, "ann", 1.5, "Good.")
    by_formgrader(theirs, "ann", "why", 1.5, "Good.")
    assert rows(ours) == rows(theirs) != rows(CourseDir(graded))
    given(ours, "ann", None, "Good.")
    by_formgrader(theirs, "ann", "why", None)
    assert rows(ours) == rows(theirs)


def test_a_mark_of_the_formgrader_is_read(course: CourseDir) -> None:
    """With the extra credit that it may give."""
    by_formgrader(course, "ann", "why", 1, "Hm.")
    with sqlite3.connect(course.root / "gradebook.db") as database:
        database.execute("update grade set extra_credit = 0.25 where manual_score = 1")
    mark = MarkBook(course, NAME).read(WHY)["ann"]
    assert (mark.given, mark.score.points) == (NewMark(1, "Hm.", False), 1.25)


def test_every_kind_of_cell_has_its_rows(course: CourseDir) -> None:
    """A test has the comment of its answer, and the gradebook counts what waits."""
    book = MarkBook(course, NAME)
    assert book.counts() == {
        ("essay", "why"): CellCount(4, 3, 0, 2),
        ("essay", "plot"): CellCount(4, 3, 0, 3),
        ("essay", "collect"): CellCount(4, 4, 0, 4),
        ("essay", "two-check"): CellCount(4, 0, 0, 4),
    }
    for cell, comment_on in ((("essay", "plot"), ""), (("essay", "collect"), ""), (TEST, "two")):
        before = book.read(cell, comment_on)
        assert sorted(before) == ["ann", "bob", "cat", "dan"] and all(each.comment_row for each in before.values())
        book.write([(before["ann"], NewMark(1, "Set by hand.", False))])
        assert book.read(cell, comment_on)["ann"].given == NewMark(1, "Set by hand.", False)
    assert book.counts()[TEST] == CellCount(4, 0, 1, 4)
    score = read_ledger(course, NAME, cells=True).of("ann").notebooks["essay"]
    assert (score.points, score.comments) == (3, {})
    no_place = book.read(TEST)["bob"]
    assert not no_place.comment_row
    with pytest.raises(GraderError, match="no place for a comment"):
        book.write([(no_place, NewMark(1, "Where?", False))])
    assert book.read(TEST)["bob"] == no_place


def by_resubmission(course: CourseDir) -> None:
    """A newer submission of ann's arrives, with the same scores."""
    with sqlite3.connect(course.root / "gradebook.db") as database:
        database.execute(
            "update submitted_assignment set timestamp = '2026-01-03 12:00:00.000000' where student_id = 'ann'"
        )


@pytest.mark.parametrize(
    "change",
    [
        lambda course: by_formgrader(course, "ann", "why", 0),
        lambda course: by_formgrader(course, "ann", "why", None, "A comment alone."),
        lambda course: given(course, "ann", 2, "Faster."),
        by_resubmission,
    ],
    ids=["points", "comment", "faster", "resubmission"],
)
def test_what_changed_since_is_not_overwritten(course: CourseDir, change: Callable[[CourseDir], None]) -> None:
    """By whatever program; and no other student of the same call gets a mark either."""
    book = MarkBook(course, NAME)
    before = book.read(WHY)
    change(course)
    expected = rows(course)
    with pytest.raises(MarkChanged):
        book.write([(before[name], NewMark(1, "Mine.", False)) for name in ("bob", "ann")])
    assert rows(course) == expected
    book.write([(mark, NewMark(1, "Mine.", False)) for name, mark in book.read(WHY).items() if name != "dan"])
    assert {mark.given for name, mark in book.read(WHY).items() if name != "dan"} == {NewMark(1, "Mine.", False)}


def test_nothing_is_written_if_the_record_refuses(course: CourseDir) -> None:
    """The record is written before the marks count."""
    book, before = MarkBook(course, NAME), rows(course)

    def refuse() -> None:
        raise GraderError("the disk is full")

    with pytest.raises(GraderError, match="the disk is full"):
        book.write([(book.read(WHY)["ann"], NewMark(1, None, False))], refuse)
    assert rows(course) == before


@pytest.mark.slow
def test_a_late_penalty_follows_the_mark(course: CourseDir) -> None:
    """As it does when the class is graded again, with an extension or without; in time there is none.

    A notebook that was handed in alone has a time of its own: a mark does not make it late.
    """
    for student in ("ann", "bob", "dan"):
        place = course.root / "submitted" / student / NAME
        (place / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    record_time(place, "essay", (place / "essay.ipynb").read_bytes(), datetime(2030, 1, 1))
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2030, 1, 2))
        gradebook.find_submission(NAME, "bob").extension = timedelta(days=30)
        gradebook.db.commit()
    grade(course)
    for student in ("ann", "bob", "cat", "dan"):
        given(course, student, 2)
    marked = {each: read_ledger(course, NAME).of(each).total for each in ("ann", "bob", "cat", "dan")}
    assert [(score.points, score.penalty) for score in marked.values()] == [(2, 1), (6, 0), (2, 0), (2, 0)]
    grade(course, force=True)
    assert {each: read_ledger(course, NAME).of(each).total for each in marked} == marked


def test_a_due_date_that_moves_while_people_mark_counts(course: CourseDir) -> None:
    """The gradebook stays open for days: each mark has the penalty of its moment, as in a class run."""
    (course.root / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    grade(course)
    book = MarkBook(course, NAME)
    for due, penalty in ((datetime(2030, 1, 2), 1), (datetime(2030, 1, 4), 0)):
        with course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=due)
        for points in (1, 2):
            book.write([(book.read(WHY)["ann"], NewMark(points, None, False))])
        assert read_ledger(course, NAME).of("ann").total.penalty == penalty
    book.close()


def test_a_gradebook_that_cannot_be_used_says_so(course: CourseDir) -> None:
    """In a sentence: an unknown assignment, a damaged file."""
    with pytest.raises(GraderError, match="no assignment '02': run 'grader grade 02' first"):
        MarkBook(course, "02")
    book = MarkBook(course, NAME)
    book.close()
    (course.root / "gradebook.db").write_bytes(b"damaged" * 999)
    with pytest.raises(GraderError, match="the gradebook cannot be read or written"):
        book.read(WHY)


@pytest.mark.slow
def test_a_gradebook_in_postgresql(course: CourseDir, database: Any, tmp_path: Path) -> None:
    """Compares and writes in the same way."""
    configure(course.root, f"c.CourseDirectory.db_url = {database.new_database(tmp_path.name)!r}")
    shutil.rmtree(course.root / "autograded")
    there = CourseDir(course.root)
    grade(there)
    book = MarkBook(there, NAME)
    before = book.read(WHY)
    book.write([(before["ann"], NewMark(1, "Good.", False))])
    assert book.read(WHY)["ann"].given == NewMark(1, "Good.", False)
    with pytest.raises(MarkChanged):
        book.write([(before["bob"], NewMark(1, None, False)), (before["ann"], NewMark(2, None, False))])
    assert book.read(WHY)["bob"] == before["bob"] and book.counts() == MarkBook(course, NAME).counts() | {
        WHY: CellCount(4, 2, 1, 2)
    }
    book.close()
