"""Makes courses with answers to mark, and graded classes that answered."""

import json
import random
from datetime import datetime
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.server_extensions.formgrader.apihandlers import CommentHandler, GradeHandler

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.autograded import autograded, unanswered
from grader.classroom.release import register, release
from grader.engine.report import Report
from tests.support.notebooks import answer, answered, check, code, notebook, task, text, written

NAME = "01-essays"
CONFIG = """from grader import nbgrader_plugin
c = get_config()
nbgrader_plugin.configure(c)
c.CourseDirectory.course_id = "essays"
"""
SCHEME = """**Why?** Give two reasons.

<!-- BEGIN MARK SCHEME -->
One point for the first reason: it rains; half for a drop. One point for the second reason.
Common wrong answers: "because" (no point).
<!-- END MARK SCHEME -->"""
TASK = """Collect what you find, in cells of your own.

<!-- BEGIN MARK SCHEME -->
Two points for each formula.
<!-- END MARK SCHEME -->"""


def question(name: str) -> list[NotebookNode]:
    """Return the cells of a question: its text, with a scheme, and the answer."""
    above = text(SCHEME)
    above.metadata["nbgrader"] = {
        "grade": False, "grade_id": f"{name}-question", "locked": True, "schema_version": 3, "solution": False,
        "task": False,
    }  # fmt: skip
    return [above, written(name, "It rains, and it is late.")]


def manual_code(name: str) -> NotebookNode:
    """Return a code cell that a person marks."""
    cell = written(name, "print('ours')", 3)
    return new_code_cell(cell.source, metadata=cell.metadata)


def essays(number: int) -> NotebookNode:
    """Return a source of so many questions and nothing else."""
    return notebook(*(cell for place in range(1, number + 1) for cell in question(f"question-{place}")))


MIXED = notebook(
    text("# Everything that a person marks"),
    *question("why"),
    manual_code("plot"),
    answer("two", "def two():\n    ### BEGIN SOLUTION\n    return 2\n    ### END SOLUTION"),
    check("two-check", "assert two() == 2, 'two() is 2'", points=4),
    task("collect", TASK),
    text("The end."),
)


def make_course(folder: Path, source: NotebookNode, config: str = "") -> CourseDir:
    """Make a course folder with one assignment of one notebook, and its release."""
    (folder / "source" / NAME).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG + config)
    nbformat.write(source, folder / "source" / NAME / "essay.ipynb")
    course_dir = CourseDir(folder)
    release(course_dir, NAME)
    return course_dir


def released(folder: Path) -> NotebookNode:
    """Return the notebook as students receive it."""
    return nbformat.read(folder / "release" / NAME / "essay.ipynb", as_version=4)


def hand_in(folder: Path, student: str, submission: NotebookNode) -> None:
    """Write a submission."""
    place = folder / "submitted" / student / NAME
    place.mkdir(parents=True, exist_ok=True)
    nbformat.write(submission, place / "essay.ipynb")


def grade(course_dir: CourseDir, *, force: bool = False) -> None:
    """Grade whoever must be graded, or the whole class."""
    for result in ClassRun(course_dir, NAME, force=force).outcomes():
        assert not result.errors, result.errors


def make_essays(folder: Path, students: int, questions: int, same: int = 1) -> CourseDir:
    """Make a graded class; each answer occurs about `same` times, and one student of 25 handed in nothing but blanks.

    What grading leaves is written without grading: no cell of these notebooks runs, and a class run takes a minute.
    """
    course_dir, draw = make_course(folder, essays(questions)), random.Random(1)
    register(course_dir, NAME)
    blank, scores = released(folder), []
    with GradebookWriter(course_dir, NAME) as writer:
        checksums = writer.notebooks()["essay"].checksums
        for number in range(students):
            said = {}
            for place in range(1, questions + 1) if number % 25 else ():
                reason = draw.randrange(students // same) if same > 1 else number
                said[f"question-{place}"] = f"Reason **{reason}** of $x^{place}$"
            done = autograded(answered(blank, **said), Report(), checksums)
            student = f"student{number:03}"
            (place := folder / "autograded" / student / NAME).mkdir(parents=True)
            (place / "essay.ipynb").write_text(json.dumps(done))
            notebook_scores = {"essay": NotebookScores({}, unanswered(done))}
            scores.append(StudentScores(student, notebook_scores, datetime(2026, 1, 2, 12)))
        writer.write(scores)
    return course_dir


def make_mixed(folder: Path, config: str = "") -> CourseDir:
    """Make a graded class in which every kind of cell waits for a person."""
    course_dir = make_course(folder, MIXED, config)
    blank = released(folder)
    for student, said in {
        "ann": {"why": "It *rains*.", "plot": "print('a')"},
        "bob": {"why": "It *rains*.  \n", "plot": "print('a')", "two": "def two():\n    return 2"},
        "cat": {"why": "No idea", "plot": "print('c')", "two": "def two():\n    return 1"},
        "dan": {},
    }.items():
        submission = answered(blank, **said)
        if student == "cat":
            submission.cells += [code("e = 2.71\nprint(e)"), text("$e^x$ is mine.")]
        hand_in(folder, student, submission)
    grade(course_dir)
    return course_dir


def by_formgrader(course: CourseDir, student: str, cell: str, points: float | None, comment: str | None = None) -> None:
    """Give points, and a comment, with the handlers of the formgrader."""
    with course.gradebook() as gradebook:
        row = gradebook.find_grade(cell, "essay", NAME, student)
        _put(GradeHandler, gradebook, row.id, {"manual_score": points, "extra_credit": None})
        if comment is not None:
            said = gradebook.find_comment(cell, "essay", NAME, student)
            _put(CommentHandler, gradebook, said.id, {"manual_comment": comment})


def _put(handler: Any, gradebook: Any, row: str, body: dict[str, Any]) -> None:
    unwrap(handler.put)(SimpleNamespace(gradebook=gradebook, get_json_body=lambda: body, write=lambda _: None), row)
