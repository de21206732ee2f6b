"""Makes a course folder with one small assignment and five submissions: right, wrong, damaged, hostile and blank."""

import copy
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.classroom.results import StudentResult
from grader.engine.report import Result, Verdict
from tests.support import warm
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook, text, written
from tests.support.paths import REPOSITORY

NAME = "01-small"

SOURCE = notebook(
    text("# Two exercises and a question"),
    helpers("imports", "import torch"),
    answer("one", "def one(x=1):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"),
    check("one-check", "assert one() == 1, 'one() is 1'"),
    hidden("one-test-more", "one(x) is x.", "assert one(3) == 3, 'one(3) is not 3'", points=2),
    answer("two", "def two():\n    ### BEGIN SOLUTION\n    return 2\n    ### END SOLUTION"),
    check("two-check", "assert two() in (1, 2)\ntwo() * 2.5", points=5),
    written("why", "Because."),
)
RIGHT = {"one": "def one(x=1):\n    return x", "two": "def two():\n    return 2", "why": "It had to be."}

SCORES = {
    "ann": 8.0,  # right
    "bob": 5.5,  # right but for two(), which earns half; no written answer
    "cat": 8.0,  # right, in a damaged notebook
    "dan": 5.0,  # one() ends the process
    "eve": 0.0,  # nothing written
}


HALF = """
from nbgrader.plugins import LateSubmissionPlugin

class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2

c.AssignLatePenalties.plugin_class = Half
"""
"""Lines for nbgrader_config.py: whoever is late loses half of the points."""


def configure(folder: Path, lines: str) -> None:
    """Append lines to the configuration of a course folder."""
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(f"\n{lines}\n")


def make_course(folder: Path) -> Path:
    """Make a course folder with the repository's nbgrader_config.py, the source of the assignment and its release."""
    (folder / "source" / NAME).mkdir(parents=True)
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    nbformat.write(SOURCE, folder / "source" / NAME / "small.ipynb")
    release(CourseDir(folder), NAME)
    return folder


def released(folder: Path) -> NotebookNode:
    """Return the notebook as students receive it."""
    return nbformat.read(folder / "release" / NAME / "small.ipynb", as_version=4)


def hand_in(folder: Path, student: str, submission: NotebookNode | bytes | None) -> Path:
    """Write a submission where nbgrader collects it, and return its folder; None leaves the folder empty."""
    submitted = folder / "submitted" / student / NAME
    submitted.mkdir(parents=True, exist_ok=True)
    if isinstance(submission, bytes):
        (submitted / "small.ipynb").write_bytes(submission)
    elif submission is not None:
        nbformat.write(submission, submitted / "small.ipynb")
    return submitted


def write_files(folder: Path, files: Mapping[str, NotebookNode | bytes | str]) -> None:
    """Write files into a folder, by their paths in it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = nbformat.writes(content) if isinstance(content, NotebookNode) else content
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)


def make_class(folder: Path) -> Path:
    """Make a course folder with the five submissions of SCORES."""
    make_course(folder)
    blank = released(folder)
    right = answered(blank, **RIGHT)
    damaged = copy.deepcopy(right)
    damaged.cells.remove(cell(damaged, "one-test-more"))
    copied = copy.deepcopy(cell(damaged, "one"))
    copied.id = "copied"
    damaged.cells.append(copied)
    damaged.cells.insert(0, code("print('mine')"))
    hand_in(folder, "ann", right)
    hand_in(folder, "bob", answered(right, two="def two():\n    return 1", why=cell(blank, "why").source))
    hand_in(folder, "cat", damaged)
    hand_in(folder, "dan", answered(right, one="import os\ndef one(x=1):\n    os._exit(0)"))
    hand_in(folder, "eve", blank)
    return folder


def make_slow_class(folder: Path, more: int, seconds: float) -> Path:
    """Make the class with more students, whose notebooks take a moment each."""
    make_class(folder)
    for number in range(more):
        slow = f"import time\ntime.sleep({seconds})\ndef two():\n    return 2 - {number} % 2"
        hand_in(folder, f"student{number}", answered(released(folder), **RIGHT | {"two": slow}))
    return folder


def mark(folder: Path, student: str, points: float, comment: str | None = None, assignment: str = NAME) -> None:
    """Mark the written answer, and comment on it, as the formgrader does."""
    with CourseDir(folder).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", assignment, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        if comment is not None:
            gradebook.find_comment("why", "small", assignment, student).manual_comment = comment
        gradebook.db.commit()


def ledger(folder: Path) -> dict[str, Any]:
    """Return everything that the gradebook holds about the class: scores, marks, comments, penalties."""
    with CourseDir(folder).gradebook() as gradebook:
        return {
            submission.student.id: {
                "score": submission.score,
                "penalties": [notebook.late_submission_penalty for notebook in submission.notebooks],
                "grades": {
                    grade.cell.name: (grade.auto_score, grade.manual_score, bool(grade.needs_manual_grade))
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                },
                "comments": {
                    comment.cell.name: (comment.auto_comment, comment.manual_comment)
                    for notebook in submission.notebooks
                    for comment in notebook.comments
                },
            }
            for submission in gradebook.find_assignment(NAME).submissions
        }


def grade_class(folder: Path, **options: Any) -> list[str]:
    """Grade the class; return the students who were graded, without those who were done."""
    outcomes = list(ClassRun(CourseDir(folder), NAME, **options).outcomes())
    assert not any("could not be graded" in error for outcome in outcomes for error in outcome.errors)
    return sorted(outcome.student for outcome in outcomes if outcome.reports)


def grade_all(folder: Path, **options: Any) -> dict[str, StudentResult]:
    """Grade the class; return the result of each student, also of those who could not be graded."""
    return {outcome.student: outcome for outcome in ClassRun(CourseDir(folder), NAME, **options).outcomes()}


def points(folder: Path) -> dict[str, float]:
    """Return each student's score."""
    return {student: entry["score"] for student, entry in ledger(folder).items()}


def results_of(points: dict[str, float]) -> dict[str, Result]:
    """Return results of tests that gave these points, as many as they can."""
    return {name: Result(name, name, Verdict.PASSED, given, given) for name, given in points.items()}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m ...` in the course folder, as a person does, but without the wait for imports."""
    return warm.run(command, folder, {**os.environ, "PYTHONPATH": str(REPOSITORY)})
