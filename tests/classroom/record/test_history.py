"""For a generated class, the record tells the same numbers as gradebook, table and export, whatever happened."""

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.record.catch_up import Place, catch_up, known_marks
from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.record import Record
from grader.classroom.release import register
from grader.commands.extend.extension import extend
from grader.commands.lms.export import EXPORTS
from tests.support.small_class import NAME, make_course, results_of

pytestmark = pytest.mark.slow

DUE = datetime(2030, 1, 2, 12)
HALF = """
from nbgrader.plugins import LateSubmissionPlugin

class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2

c.AssignLatePenalties.plugin_class = Half
"""
TESTS = {"one-check": 1, "one-test-more": 2, "two-check": 5}
STUDENTS = ("ann", "bob", "cat", "dan")


def grade(course_dir: CourseDir, draw: random.Random) -> None:
    """Grade some students with other points, late or in time."""
    entries = []
    for student in draw.sample(STUDENTS, 2):
        points = {name: draw.choice([0.0, most / 2, most]) for name, most in TESTS.items()}
        scores = {"small": NotebookScores(results_of(points), set())}
        entries.append(StudentScores(student, scores, DUE + timedelta(days=draw.randint(-1, 4))))
    with GradebookWriter(course_dir, NAME) as writer:
        writer.write(entries, "graded again")


def mark(course_dir: CourseDir, draw: random.Random) -> None:
    """Give or take points of a cell as the formgrader does."""
    with course_dir.gradebook() as gradebook:
        submission = draw.choice(gradebook.find_assignment(NAME).submissions)
        cell = draw.choice([*TESTS, "why"])
        row = gradebook.find_grade(cell, "small", NAME, submission.student.id)
        if draw.random() < 0.3:
            row.extra_credit = draw.choice([None, 0.0, 0.5, 1.0])
        else:
            row.manual_score = draw.choice([None, 0.0, 0.5, 1.0, 2.0])
        row.needs_manual_grade = False
        gradebook.db.commit()


def give_time(course_dir: CourseDir, draw: random.Random) -> None:
    """Extend a student, or take an extension back."""
    student = draw.choice(STUDENTS)
    extended = read_ledger(course_dir, NAME).of(student).extension
    until = None if extended and draw.random() < 0.3 else DUE + timedelta(hours=draw.randint(1, 96))
    assert list(extend(course_dir, student, NAME, until, "ill"))


def last(entries: list[Entry], *kinds: Kind) -> dict[tuple[str, str], float | str | None]:
    """The last value of each student and cell."""
    return {(each.student, each.cell): each.after for each in entries if each.kind in kinds}


@pytest.mark.parametrize("seed", range(2))
def test_the_record_tells_what_the_gradebook_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """After regrading, marks, overrides, extra credit, late penalties and extensions in any order."""
    draw, folder = random.Random(seed), make_course(tmp_path / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(HALF)
    course_dir = CourseDir(folder)
    with course_dir.gradebook() as gradebook:
        gradebook.add_assignment(NAME, duedate=DUE)
        for student in STUDENTS:
            gradebook.add_student(student)
    register(course_dir, NAME)
    grade(course_dir, draw)
    for _ in range(40):
        draw.choice([grade, mark, mark, give_time])(course_dir, draw)
        if draw.random() < 0.5:
            catch_up(course_dir)
    catch_up(course_dir)
    entries = Record(folder).entries()
    assert {each.kind for each in entries} == {
        Kind.CHANGED, Kind.MARK, Kind.OVERRIDE, Kind.EXTRA_CREDIT, Kind.EXTENSION
    }  # fmt: skip
    monkeypatch.chdir(folder)
    with course_dir.gradebook() as gradebook:
        EXPORTS["csv"](assignment=[NAME]).write(course_dir, gradebook, lambda _: None)
        _compare(course_dir, gradebook, entries)


def _compare(course_dir: CourseDir, gradebook: Gradebook, entries: list[Entry]) -> None:
    marks, tests, dates = known_marks(entries), last(entries, Kind.CHANGED), last(entries, Kind.EXTENSION)
    rows = {row["student_id"]: row for row in csv.DictReader(Path("grades.csv").read_text().splitlines())}
    ledger, found = read_ledger(course_dir, NAME), dict[Place, float]()
    for submission in gradebook.find_assignment(NAME).submissions:
        student = submission.student.id
        for row in submission.notebooks[0].grades:
            place = Place(student, NAME, "small", row.cell.name)
            if row.manual_score is not None:
                found[place] = row.manual_score
            if row.extra_credit:
                found[place._replace(is_extra=True)] = row.extra_credit
            assert tests.get((student, row.cell.name), row.auto_score) == row.auto_score
        until = dates.get((student, ""))
        assert submission.duedate == (datetime.fromisoformat(str(until)).replace(tzinfo=None) if until else DUE)
        if student in ledger.by_student:
            counted = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
            assert ledger.of(student).total.counted == pytest.approx(counted)
            assert float(rows[student]["score"]) == pytest.approx(counted)
            assert rows[student]["duedate"] == str(submission.duedate)
    assert found == marks
