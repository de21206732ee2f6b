"""Reads the exercises of the course, their misconceptions and their right answers in other styles."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import Role, Step, plan
from grader.engine.report import Report, Result
from tests.support.paths import REPOSITORY

HELPER_PACKAGES = ("grader_kernel", "course")
"""The packages that the notebooks of this course import, as in its configuration."""
NOTEBOOKS = {path: nbformat.read(path, as_version=4) for path in sorted((REPOSITORY / "source").glob("*/*.ipynb"))}
"""All source notebooks, by path."""
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
OUTLINES = {exercise: outline for outline in map(Outline, NOTEBOOKS.values()) for exercise in outline.coded}
"""The outline of the source notebook of each exercise."""
SOURCES = {exercise: outline.notebook for exercise, outline in OUTLINES.items()}
"""The source notebook of each exercise."""
ASSIGNMENTS = sorted({path.parent for path in NOTEBOOKS})
MISCONCEPTIONS = [misconception for assignment in ASSIGNMENTS for misconception in load(assignment)]
STYLES = sorted((REPOSITORY / "tests" / "correct_answers").glob("*/*/right-*.py"))
"""Right answers in other styles than the reference, by assignment and exercise."""
MENTIONS_NN = re.compile(r"^(?!from torch import nn$|import torch\.nn\.functional as F$).*\bnn\b", re.MULTILINE)
"""A line that mentions torch.nn and is not one of the two imports with which every notebook begins."""


def sources(assignment: Path) -> dict[str, NotebookNode]:
    """Return the source notebook of each exercise of an assignment."""
    own = [notebook for path, notebook in NOTEBOOKS.items() if path.parent == assignment]
    return {exercise: notebook for exercise, notebook in SOURCES.items() if any(notebook is each for each in own)}


def notebook_of(exercise: str) -> str:
    """Return the name of the notebook that an exercise is in."""
    return next(path.stem for path, notebook in NOTEBOOKS.items() if notebook is SOURCES[exercise])


def misconceptions_of(exercise: str) -> list[Misconception]:
    """Return the misconceptions of one exercise, in order."""
    return [misconception for misconception in MISCONCEPTIONS if misconception.exercise == exercise]


def reference(exercise: str) -> str:
    """Return the answer that the source gives."""
    return OUTLINES[exercise].reference(exercise)


@cache
def alone(exercise: str) -> NotebookNode:
    """Return the source cut to what an exercise needs, as `grader prove` cuts it."""
    return OUTLINES[exercise].alone(exercise)


def lost(report: Report, exercise: str) -> list[Result]:
    """Return the tests of `exercise` that did not give all their points."""
    return [result for result in report.results if result.exercise == exercise and result.points < result.max_points]


def users_of(names: set[str], steps: list[Step]) -> set[int]:
    """Return the cells that use one of `names`, directly or through names that such cells bind, by index."""
    names, users = set(names), set[int]()
    while found := [step for step in steps if step.index not in users and names & set(names_used(step.source))]:
        users |= {step.index for step in found}
        names |= set().union(*(names_bound(step.source) for step in found))
    return users


@cache
def dependents(exercise: str) -> frozenset[int]:
    """Return the cells of the source that depend on the answer to an exercise, by index: its own and all its users."""
    steps = plan(SOURCES[exercise])
    [own] = [step for step in steps if step.name == exercise]
    return frozenset({own.index} | users_of(set(names_bound(own.source)), steps))


def combined_styles(notebook: NotebookNode) -> list[dict[str, Path]]:
    """Return the styles of all exercises of a notebook as few submissions, by exercise.

    Two styles share a submission only if no cell depends on both of their exercises. So a style meets in each cell
    exactly what it would meet alone, and none makes up for what another breaks.
    """
    submissions: list[dict[str, Path]] = []
    for style in STYLES:
        exercise = style.parent.name
        if SOURCES.get(exercise) is not notebook:
            continue
        for submission in submissions:
            if not any(dependents(exercise) & dependents(other) for other in submission):
                submission[exercise] = style
                break
        else:
            submissions.append({exercise: style})
    return submissions


def makes_modules(exercise: str, answer: str) -> bool:
    """Return whether tests may meet a torch module if this is the `answer` to the exercise.

    They may where the answer, a test, or a cell that these use mentions `nn` in more than an import.
    """
    steps = [step for step in plan(alone(exercise)) if step.name != exercise]
    sources = [answer] + [step.source for step in steps if step.role is Role.TEST]
    others = [step.source for step in steps if step.role is not Role.TEST]
    names = set().union(*map(names_used, sources))
    while needed := [source for source in others if names & names_bound(source)]:
        sources += needed
        others = [source for source in others if source not in needed]
        names |= set().union(*map(names_used, needed))
    return any(MENTIONS_NN.search(source) for source in sources)
