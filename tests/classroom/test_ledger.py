"""The one reader of the gradebook counts as nbgrader counts, whatever graders and people wrote into it."""

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger, due_of, read_ledger
from grader.classroom.release import register
from grader.errors import GraderError
from tests.support.small_class import NAME, make_course

DUE = datetime(2030, 1, 2, 12)
STUDENTS = 60
OTHER = "02-other"


def drawn(chance: random.Random, *choices: float | None) -> float | None:
    """One of the choices, mostly None or a number with halves."""
    return chance.choice([*choices, None, round(chance.random() * 4) / 2])


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDir:
    """A course whose gradebook holds marks, extra credit, penalties and extensions of every kind, and none of these."""
    course_dir, chance = CourseDir(make_course(tmp_path_factory.mktemp("ledger"))), random.Random(7)
    register(course_dir, NAME)
    with course_dir.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
        gradebook.add_assignment(OTHER)
        notebook = gradebook.add_notebook("tasks", NAME)
        gradebook.add_task_cell("a-task", notebook.name, NAME, max_score=3, cell_type="markdown")
        gradebook.add_student("absent")
        for number in range(STUDENTS):
            student = f"s{number}"
            gradebook.add_student(student)
            entry = gradebook.add_submission(NAME, student)
            entry.timestamp = DUE + timedelta(hours=number - 20) if number % 7 else None
            entry.extension = timedelta(hours=number % 5) if number % 3 else None
            for submitted in entry.notebooks:
                submitted.late_submission_penalty = drawn(chance, 0.0, 0.25, 100.0)
                for grade in submitted.grades:
                    grade.auto_score, grade.manual_score = drawn(chance), drawn(chance, None, None)
                    grade.extra_credit, grade.needs_manual_grade = drawn(chance, None), chance.random() < 0.2
        gradebook.add_submission(OTHER, "s0")
        gradebook.db.commit()
    return course_dir


@pytest.fixture(scope="module")
def ledger(course: CourseDir) -> Ledger:
    """What the reader finds, with cells."""
    return read_ledger(course, NAME, cells=True)


@pytest.fixture
def nbgrader(course: CourseDir) -> Gradebook:
    """nbgrader's own gradebook."""
    with course.gradebook() as gradebook:
        yield gradebook


def test_sums_are_nbgraders(ledger: Ledger, nbgrader: Gradebook, course: CourseDir) -> None:
    """Of tests, of written answers and tasks, before and after the penalty, and the points that can be reached.

    A notebook is the sum of its cells, each with what counts in nbgrader. A table of 5,000 students needs no row for
    each of their cells: without them, the rest is the same. One without a submission has nothing.
    """
    short = read_ledger(course, NAME)
    found = {row["student"]: row for row in nbgrader.submission_dicts(NAME)}
    assert found.keys() == ledger.by_student.keys() and len(found) == STUDENTS
    for student, row in found.items():
        score, theirs = ledger.of(student).total, nbgrader.find_submission(NAME, student)
        assert (score.tests, score.max_tests) == pytest.approx((row["code_score"], row["max_code_score"]))
        assert score.written == pytest.approx(row["written_score"] + row["task_score"])
        assert score.max_written == row["max_written_score"] + row["max_task_score"]
        assert (score.points, score.max_points) == pytest.approx((row["score"], row["max_score"]))
        assert score.penalty == pytest.approx(theirs.late_submission_penalty)
        assert score.counted == pytest.approx(max(0.0, row["score"] - theirs.late_submission_penalty))
        assert bool(score.needs_marking) == row["needs_manual_grade"]
        assert short.of(student).total == score
        assert not any(notebook.cells for notebook in short.of(student).notebooks.values())
        for name, notebook in ledger.of(student).notebooks.items():
            for cell, own in notebook.cells.items():
                grade = nbgrader.find_grade(cell, name, NAME, student)
                assert (own.points, own.max_points) == (grade.score, grade.max_score)
                assert (own.auto, own.manual, own.extra) == (grade.auto_score, grade.manual_score, grade.extra_credit)
                assert own.is_scored == (grade.auto_score is not None or grade.manual_score is not None)
            assert sum(cell.points for cell in notebook.cells.values()) == pytest.approx(notebook.points)
            assert sum(cell.max_points for cell in notebook.cells.values()) == notebook.max_points
    assert len({round(score.total.counted, 3) for score in ledger.by_student.values()}) > 7
    assert ledger.blank.total.max_points == nbgrader.find_assignment(NAME).max_score == 13
    assert "absent" in ledger.students and "absent" not in ledger.by_student
    assert (ledger.of("absent").total.counted, ledger.of("absent").notebooks) == (0, {})


def test_times_are_nbgraders(ledger: Ledger, nbgrader: Gradebook, course: CourseDir) -> None:
    """Lateness with an extension, none without a time, and the date until which a student may hand in."""
    engine = create_engine(course.directory.db_url)
    for student, score in ledger.by_student.items():
        theirs = nbgrader.find_submission(NAME, student)
        assert (score.handed_in, score.extension) == (theirs.timestamp, theirs.extension)
        assert score.seconds_late == (theirs.total_seconds_late if theirs.timestamp else 0.0)
        with engine.connect() as connection:
            assert due_of(connection, NAME, student) == theirs.duedate
    with engine.connect() as connection:
        assert due_of(connection, NAME, "absent") == DUE == ledger.due
        assert due_of(connection, OTHER, "s0") is None is due_of(connection, "none such", "s0")
    engine.dispose()


def test_an_assignment_that_the_gradebook_does_not_have_is_an_error(course: CourseDir, tmp_path: Path) -> None:
    """It names those that there are; or it is empty, where that is to be expected."""
    with pytest.raises(GraderError, match=rf"no assignment 'none' \(it has {NAME}, {OTHER}\)"):
        read_ledger(course, "none")
    empty = read_ledger(course, "none", is_new=True)
    assert (empty.by_student, empty.due, empty.blank.total.max_points) == ({}, None, 0) and "absent" in empty.students
