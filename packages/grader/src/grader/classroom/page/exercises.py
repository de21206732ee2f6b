"""Finds the exercises of an autograded notebook: how each ended, why, and which causes affect several of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode

from grader.classroom.gradebook.rules import NO_RESPONSE
from grader.classroom.page import formulas
from grader.engine.notebook.cells import CellType, explanation_of, grade_id, type_of
from grader.engine.notebook.outline import Outline
from grader.engine.report import Result, Verdict
from grader.engine.view import NOT_WRITTEN, PARTLY, RIGHT, WRONG, ExerciseState, ExerciseView, Reason, view

HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
INLINE = re.compile(r"\$([^$\n]+)\$|`([^`\n]+)`")
MARKUP = re.compile(r"[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}")
MAX_HEADING = 200


NO_ANSWER = ExerciseState("○", "no answer yet", "blank")
WAITING = ExerciseState("…", "waits for marking", "wait")
PASSED = ExerciseState("✓", "passed", "good")


@dataclass
class Exercise:
    """An exercise or a written answer: its points, the results of its tests, where it and its text are on the page."""

    name: str
    is_written: bool = False
    score: float = 0.0
    points: float = 0.0
    needs_marking: bool = False
    anchor: str = ""
    heading: Markup = Markup()
    heading_anchor: str = ""
    stopped: str = ""
    comment: str = ""
    results: list[Result] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return self.state in (NO_ANSWER, NOT_WRITTEN)

    @cached_property
    def view(self) -> ExerciseView:
        """The exercise as students see it, by its tests."""
        return view(self.name, self.results)

    @property
    def state(self) -> ExerciseState:
        """How the exercise ended."""
        if not self.is_written:
            return self.view.state
        if self.needs_marking:
            return WAITING
        if self.score >= self.points:
            return RIGHT
        return PARTLY if self.score else NO_ANSWER if self.comment == NO_RESPONSE else WRONG

    @property
    def share(self) -> float:
        """Which part of the points was earned, as a percentage."""
        return 100 * max(0.0, min(1.0, self.score / self.points)) if self.points else 100.0

    @property
    def reasons(self) -> list[Reason]:
        """The causes that belong to the exercise alone; the others stand above all exercises."""
        return [reason for reason in self.view.reasons if not (reason.first or reason.is_shared)]


@dataclass
class FixFirst:
    """One cause in several exercises: what it is, where to mend it, and what it affects."""

    sentence: str
    exercise: Exercise | None
    affected: list[Exercise]


def anchor(cell: NotebookNode) -> str:
    """Return the id of a cell on the page."""
    return f"cell-{escape(str(cell.get('id', '')))}"


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """Return the exercises and written answers of an autograded notebook, in order.

    Args:
        notebook: the notebook, with score, points and comment in the metadata of its cells.
    """
    outline = Outline(notebook)
    found: dict[str, Exercise] = {}
    heading, heading_anchor = "", ""
    for number, cell in enumerate(notebook.cells):
        kind = outline.types[number]
        if (
            cell.cell_type == "markdown"
            and kind is not CellType.MANUAL_ANSWER
            and (match := HEADING.search(cell.source))
        ):
            heading, heading_anchor = match[1], anchor(cell)
        if not (name := outline.exercise_at[number]):
            continue
        exercise = found.setdefault(name, Exercise(name))
        if not exercise.anchor:
            exercise.anchor, exercise.heading, exercise.heading_anchor = anchor(cell), _inline(heading), heading_anchor
        _add(exercise, cell, kind)
    return [exercise for exercise in found.values() if exercise.points or exercise.results]


def _add(exercise: Exercise, cell: NotebookNode, kind: CellType) -> None:
    scores = cell.metadata.nbgrader
    score, points = scores.get("score") or 0.0, scores.get("points") or 0.0
    if kind is not CellType.AUTOGRADED_ANSWER:
        exercise.score += score
        exercise.points += points
    if kind is CellType.TEST:
        verdict = Verdict.PASSED if _is_full(cell) else Verdict.FAILED
        name, explanation = grade_id(cell) or "", explanation_of(cell)
        exercise.results.append(Result(name, verdict, score, points, explanation, exercise=exercise.name))
        return
    exercise.comment = scores.get("comment") or ""
    exercise.is_written = kind is CellType.MANUAL_ANSWER
    exercise.needs_marking = exercise.is_written and waits(scores)
    errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
    exercise.stopped = next((f"{error.ename}: {error.evalue}" for error in errors), "")


def fix_first(found: list[Exercise]) -> list[FixFirst]:
    """Return the causes that affect other exercises than their own, or several."""
    by_name = {exercise.name: exercise for exercise in found}
    affected: dict[str, dict[str, Exercise]] = {}
    for exercise in found:
        causes = [
            each.first if each.first in by_name else each.sentence
            for each in exercise.view.reasons
            if each.first or each.is_shared
        ]
        for cause in (*causes, *exercise.view.judged_with):
            affected.setdefault(cause, {})[exercise.name] = exercise
    return [
        FixFirst("" if cause in by_name else cause, by_name.get(cause), list(exercises.values()))
        for cause, exercises in affected.items()
    ]


def cell_state(cell: NotebookNode) -> ExerciseState | None:
    """Return how a graded cell ended; None for a cell that has no points."""
    kind, scores = type_of(cell), cell.metadata.get("nbgrader", {})
    if kind not in (CellType.TEST, CellType.MANUAL_ANSWER) or "points" not in scores:
        return None
    if waits(scores):
        return WAITING
    if kind is CellType.TEST and _is_full(cell):
        return PASSED
    if _is_full(cell):
        return RIGHT
    if scores.get("score"):
        return PARTLY
    verdict = next((output.ename for output in cell.get("outputs", ()) if output.output_type == "error"), "")
    word = str(Verdict(verdict)) if verdict in set(Verdict) else "failed" if kind is CellType.TEST else "no points"
    return ExerciseState("✗", word, "bad")


def waits(scores: dict[str, Any]) -> bool:
    """Return whether a graded cell waits for a person.

    Args:
        scores: its score, its points and needs_marking.
    """
    return bool(scores.get("needs_marking")) or scores.get("score") is None


def _is_full(cell: NotebookNode) -> bool:
    scores = cell.metadata.nbgrader
    return (scores.get("score") or 0.0) >= (scores.get("points") or 0.0)


def _inline(heading: str) -> Markup:
    """A heading as HTML: its formulas and names drawn, other markup left out."""
    shown = ""
    for text, tex, code in _parts(heading[:MAX_HEADING]):
        shown += (
            formulas.drawn(tex) if tex else f"<code>{escape(code)}</code>" if code else escape(MARKUP.sub(r"\1", text))
        )
    return Markup(shown)


def _parts(text: str) -> Iterator[tuple[str, str, str]]:
    end = 0
    for match in INLINE.finditer(text):
        yield text[end : match.start()], "", ""
        yield "", match[1] or "", match[2] or ""
        end = match.end()
    yield text[end:], "", ""
