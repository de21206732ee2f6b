"""A graded course in plain Python whose source changed afterwards, and the only student who was graded again."""

import copy
from pathlib import Path

from nbformat import NotebookNode

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from tests.support.notebooks import cell
from tests.support.plain_course import ASSIGNMENT, SOURCE, make, write

OLDER = ["bob", "cat", "dan", "eve"]
"""The students who have points of the old source."""
OLDER_SENTENCE = (
    "4 students of 01-plain were graded before source/ changed (run 'grader grade 01-plain'): bob, cat, dan, eve"
)


def source(points: float) -> NotebookNode:
    """Return the source with other points for its hidden test, which had 2."""
    changed = copy.deepcopy(SOURCE)
    cell(changed, "largest-test-any").metadata.nbgrader["points"] = points
    return changed


def graded(folder: Path, *only: str) -> list[str]:
    """Grade the class, and return the students who were graded."""
    outcomes = ClassRun(CourseDir(folder), ASSIGNMENT, only=only).outcomes()
    return sorted(outcome.student for outcome in outcomes if outcome.reports)


def make_changed(folder: Path) -> Path:
    """Make the course with points that changed from 2 to 5, and ann graded by the new ones."""
    make(folder)
    assert len(graded(folder)) == 5
    write(source(points=5), folder / "source" / ASSIGNMENT)
    assert graded(folder, "ann") == ["ann"]
    return folder
