"""The exercises of the course, and submissions that answer one of them in another way."""

import copy
from functools import cache
from pathlib import Path

import nbformat

from course.grading.grade import grade
from course.grading.notebook import Kind, exercise_of, grade_id, kind, with_answer
from course.grading.report import Report, Result
from course.misconceptions import load

REPOSITORY = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path for path in (REPOSITORY / "source").glob("*/") if any(path.glob("*.ipynb")))


def sources(assignment: Path) -> dict[str, nbformat.NotebookNode]:
    """The source notebook that each exercise of an assignment stands in."""
    notebooks = [nbformat.read(path, as_version=4) for path in sorted(assignment.glob("*.ipynb"))]
    return {grade_id(cell): notebook for notebook in notebooks for cell in notebook.cells if kind(cell) is Kind.ANSWER}


SOURCES = {exercise: notebook for assignment in ASSIGNMENTS for exercise, notebook in sources(assignment).items()}
MISTAKES = [mistake for assignment in ASSIGNMENTS for mistake in load(assignment)]


def reference(exercise: str) -> str:
    """The answer that the source gives."""
    return next(cell.source for cell in SOURCES[exercise].cells if grade_id(cell) == exercise)


def submit(exercise: str, answer: str, *, whole: bool, named: bool = True) -> Report:
    """What the grader says of a submission that is the reference but for one answer.

    On the whole notebook, or on what of it the exercise needs; `named` mistakes take longer and change no points.
    """
    source = SOURCES[exercise] if whole else alone(exercise)
    return grade(source, with_answer(source, exercise, answer), misconceptions=MISTAKES if named else ())


@cache
def alone(exercise: str) -> nbformat.NotebookNode:
    """The source notebook up to the last test of an exercise, without other tests and without our worked examples.

    A mistake must be found by the tests of its own exercise.
    """
    notebook = copy.copy(SOURCES[exercise])
    is_own = lambda cell: kind(cell) is Kind.TEST and belongs(grade_id(cell), exercise)  # noqa: E731
    last = max(number for number, cell in enumerate(notebook.cells) if is_own(cell))
    needed = lambda cell: is_own(cell) or kind(cell) in (Kind.READ_ONLY, Kind.ANSWER)  # noqa: E731
    notebook.cells = [cell for cell in notebook.cells[: last + 1] if needed(cell)]
    return notebook


def belongs(test: str, exercise: str) -> bool:
    """Whether the test cell called `test` is one of `exercise`."""
    return exercise_of(test, list(SOURCES)) == exercise


def lost(report: Report, exercise: str) -> list[Result]:
    """The tests of `exercise` that did not give all their points."""
    return [result for result in report.results if belongs(result.name, exercise) and result.points < result.max_points]
