"""Grades a class with the grader and with nbgrader alone, and compares their gradebooks."""

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from tests.support.small_class import run

CONFIG = "from grader import nbgrader_plugin\n\nc = get_config()\nnbgrader_plugin.configure(c)\n"


def write(folder: Path, notebooks: dict[str, NotebookNode]) -> None:
    """Write notebooks into a folder, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in notebooks.items():
        nbformat.write(each, folder / f"{name}.ipynb")


def without_plugin(folder: Path) -> None:
    """Remove the grader from the configuration of a course."""
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")


def grade(folder: Path, assignment: str) -> None:
    """Grade a class with nbgrader alone."""
    without_plugin(folder)
    for command in (("generate_assignment", assignment, "--force"), ("autograde", assignment)):
        done = run(folder, "nbgrader", *command)
        assert done.returncode == 0, done.stderr


def grade_class(folder: Path, assignment: str, **options: Any) -> None:
    """Grade a class as `grader grade` does."""
    outcomes = list(ClassRun(CourseDir(folder), assignment, **options).outcomes())
    assert not any("could not be graded" in error for outcome in outcomes for error in outcome.errors), outcomes


def rows(folder: Path, assignment: str) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Return the rows of the gradebook, by student, notebook, "grade" or "comment", and cell.

    Each has the points of the grader and of a person, the maximum and whether it waits, or both comments.
    """
    found: dict[tuple[str, ...], tuple[Any, ...]] = {}
    with CourseDir(folder).gradebook() as gradebook:
        for submission in gradebook.find_assignment(assignment).submissions:
            for own in submission.notebooks:
                key = submission.student.id, own.name
                for each in own.grades:
                    given = each.auto_score, each.manual_score, each.max_score, bool(each.needs_manual_grade)
                    assert found.setdefault((*key, "grade", each.name), given) is given, "two rows of one cell"
                for each in own.comments:
                    said = each.auto_comment, each.manual_comment
                    assert found.setdefault((*key, "comment", each.name), said) is said, "two rows of one cell"
    return found
