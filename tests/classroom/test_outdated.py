"""Points that are older than the course: who has them, and why; one fingerprint decides it, and whom to grade again."""

import copy
from datetime import datetime
from pathlib import Path

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.source.basis import Part
from grader.classroom.source.inputs import mark_outdated, outdated_in
from grader.classroom.student import load_assignment
from tests.support.changed_course import graded
from tests.support.plain_course import ASSIGNMENT, SOURCE, make, write

pytestmark = pytest.mark.slow

DUE = datetime(2030, 1, 2, 12)
ZERO = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
OWN_RULE = """
from nbgrader.plugins import LateSubmissionPlugin
class Gentle(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5
c.AssignLatePenalties.plugin_class = Gentle
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A graded class; ann handed in a day late, and nothing is taken off for that."""
    folder = make(tmp_path / "course")
    (folder / "submitted" / "ann" / ASSIGNMENT / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.add_assignment(ASSIGNMENT, duedate=DUE)
    assert graded(folder) == ["ann", "bob", "cat", "dan", "eve"] and graded(folder) == []
    return folder


def found(folder: Path) -> dict[str, set[Part]]:
    """Return the students whose points are older than the course, with what has changed."""
    course_dir = CourseDir(folder)
    assignment = load_assignment(course_dir, ASSIGNMENT, sandbox=True)
    ledger = read_ledger(course_dir, ASSIGNMENT)
    mark_outdated(course_dir, ledger, assignment)
    older = {student: set(score.outdated) for student, score in ledger.by_student.items() if score.outdated}
    assert all(student in outdated_in(ledger) for student in older) and bool(older) == bool(outdated_in(ledger))
    return older


def configured(folder: Path, more: str) -> str:
    """Add lines to the configuration, and return what it was."""
    file = folder / "nbgrader_config.py"
    before = file.read_text()
    file.write_text(before + more)
    return before


def test_a_rule_for_late_work_counts_by_itself(course: Path) -> None:
    """As a due date does: for the late one it makes the points older, and the next run takes the new rule."""
    before = configured(course, ZERO)
    assert found(course) == {"ann": {Part.LATE}}
    assert "ann" in graded(course) and found(course) == {}
    assert read_ledger(CourseDir(course), ASSIGNMENT).of("ann").total.counted == 0
    (course / "nbgrader_config.py").write_text(before + OWN_RULE)
    assert found(course) == {"ann": {Part.LATE}}
    assert "ann" in graded(course) and graded(course) == []
    assert read_ledger(CourseDir(course), ASSIGNMENT).of("ann").total.penalty == 0.5
    # The same class with other code is another rule.
    (course / "nbgrader_config.py").write_text(before + OWN_RULE.replace("0.5", "0.25"))
    assert found(course) == {"ann": {Part.LATE}}
    with CourseDir(course).gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=datetime(2030, 1, 5))
    assert found(course) == {"ann": {Part.LATE}}  # the old penalty is still there
    assert "ann" in graded(course) and read_ledger(CourseDir(course), ASSIGNMENT).of("ann").total.counted == 3


def test_limits_make_points_older_and_known_mistakes_only_pages(course: Path) -> None:
    """A known mistake costs nothing and makes no number doubtful. The class is graded again for it all the same.

    Without a due date, no rule for late work matters, and the class is not graded again for it.
    """
    mistakes = course / "source" / ASSIGNMENT / "misconceptions"
    mistakes.mkdir()
    (mistakes / "largest.toml").write_text(
        '[[misconception]]\nname = "takes the last"\nfind = "max(numbers)"\nreplace = "numbers[-1]"\n'
        'hint = "The last need not be the largest."\n'
    )
    assert found(course) == {}
    configured(course, "c.Limits.cell_seconds = 77\n")
    assert found(course) == dict.fromkeys(("ann", "bob", "cat", "dan", "eve"), {Part.LIMITS})
    assert len(graded(course)) == 5 and found(course) == {}
    with CourseDir(course).gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=None)
    assert len(graded(course)) == 5
    configured(course, ZERO)
    assert graded(course) == [] and found(course) == {}


def test_records_of_an_earlier_version_say_nothing(course: Path) -> None:
    """They are not called older, as nothing is known, and neither is a student whose results are gone."""
    for student in ("bob", "cat"):
        record = course / "autograded" / student / ASSIGNMENT / ".plain.results.json"
        record.write_bytes(record.read_bytes().replace(b'"basis"', b'"others"'))
    (course / "autograded" / "dan" / ASSIGNMENT / ".plain.results.json").unlink()
    edited = copy.deepcopy(SOURCE)
    edited.cells[0].source += "!"
    write(edited, course / "source" / ASSIGNMENT)
    assert found(course).keys() == {"ann", "eve"}
