"""Finds the exercises of an autograded notebook: how each ended, why, and which causes affect several of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

from markupsafe import Markup
from nbformat import NotebookNode

from grader.classroom.marks import NO_RESPONSE
from grader.classroom.page import formulas
from grader.classroom.page.causes import Found, read_message
from grader.notebook.cells import CellType, exercise_names, exercise_of, grade_id, type_of
from grader.report import Verdict

HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
INLINE = re.compile(r"\$([^$\n]+)\$|`([^`\n]+)`")
MARKUP = re.compile(r"[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}")
MAX_HEADING = 200


class State(NamedTuple):
    """How an exercise or a cell ended: a sign and words, which tell without colour, and a name for the style sheet."""

    sign: str
    word: str
    style: str


RIGHT = State("✓", "right", "good")
PARTLY = State("◐", "partly right", "part")
WRONG = State("✗", "not right yet", "bad")
NOT_WRITTEN = State("○", "not written yet", "blank")
NO_ANSWER = State("○", "no answer yet", "blank")
WAITING = State("…", "waits for marking", "wait")
PASSED = State("✓", "passed", "good")


@dataclass
class Exercise:
    """An exercise or a written answer: its points, what was found wrong, and where it and its text are on the page."""

    name: str
    is_written: bool = False
    score: float = 0.0
    points: float = 0.0
    needs_marking: bool = False
    is_blank: bool = False
    anchor: str = ""
    heading: Markup = Markup()
    heading_anchor: str = ""
    stopped: str = ""
    comment: str = ""
    found: list[Found] = field(default_factory=list)

    @property
    def state(self) -> State:
        """How the exercise ended."""
        if self.needs_marking:
            return WAITING
        if self.score >= self.points:
            return RIGHT
        if self.is_blank and not self.score:
            return NO_ANSWER if self.is_written else NOT_WRITTEN
        return PARTLY if self.score else WRONG

    @property
    def share(self) -> float:
        """Which part of the points was earned, as a percentage."""
        return 100 * max(0.0, min(1.0, self.score / self.points)) if self.points else 100.0

    @cached_property
    def reasons(self) -> list[tuple[str, list[str]]]:
        """The causes of the failures, each once: its sentence, and the truths that do not hold because of it."""
        reasons: dict[str, tuple[str, list[str]]] = {}
        for found in self.found:
            if found.first or not (found.sentence or found.truth):
                continue
            sentence, truths = reasons.setdefault(found.key or found.truth, (found.sentence or found.truth, []))
            if found.sentence and found.truth:
                truths.append(found.truth)
        return list(reasons.values())

    @property
    def diagnosis(self) -> str:
        """The known mistake that behaves exactly like the answer; empty if none does."""
        return next((found.diagnosis for found in self.found if found.diagnosis), "")

    @property
    def judged_with(self) -> list[str]:
        """Exercises that lost points, in whose place ours were used."""
        return list(dict.fromkeys(name for found in self.found for name in found.judged_with))


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
    names = exercise_names(notebook)
    found: dict[str, Exercise] = {}
    heading, heading_anchor = "", ""
    for cell in notebook.cells:
        kind, name = type_of(cell), grade_id(cell)
        if (
            cell.cell_type == "markdown"
            and kind is not CellType.MANUAL_ANSWER
            and (match := HEADING.search(cell.source))
        ):
            heading, heading_anchor = match[1], anchor(cell)
        if name is None or kind not in (CellType.TEST, CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER):
            continue
        key = exercise_of(name, names) if kind is CellType.TEST else name
        exercise = found.setdefault(key, Exercise(key))
        if not exercise.anchor:
            exercise.anchor, exercise.heading, exercise.heading_anchor = anchor(cell), _inline(heading), heading_anchor
        _add(exercise, cell, kind)
    return [exercise for exercise in found.values() if exercise.points or exercise.found]


def _add(exercise: Exercise, cell: NotebookNode, kind: CellType) -> None:
    scores = cell.metadata.nbgrader
    exercise.score += scores.get("score") or 0.0 if kind is not CellType.AUTOGRADED_ANSWER else 0.0
    exercise.points += scores.get("points") or 0.0 if kind is not CellType.AUTOGRADED_ANSWER else 0.0
    if kind is CellType.TEST:
        found = read_message(exercise.name, cell, is_full=_is_full(cell))
        exercise.found.append(found)
        exercise.is_blank = exercise.is_blank or found.is_not_written
        return
    exercise.comment = scores.get("comment") or ""
    exercise.is_written = kind is CellType.MANUAL_ANSWER
    exercise.needs_marking = exercise.is_written and waits(scores)
    exercise.is_blank = exercise.is_written and not exercise.score and exercise.comment == NO_RESPONSE
    errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
    exercise.stopped = next((f"{error.ename}: {error.evalue}" for error in errors), "")


def fix_first(found: list[Exercise]) -> list[FixFirst]:
    """Return the causes that affect other exercises than their own, or several."""
    by_name = {exercise.name: exercise for exercise in found}
    affected: dict[str, dict[str, Exercise]] = {}
    for exercise in found:
        for cause in dict.fromkeys(each.first for each in exercise.found if each.first):
            affected.setdefault(cause, {})[exercise.name] = exercise
        for name in exercise.judged_with:
            affected.setdefault(name, {})[exercise.name] = exercise
    return [
        FixFirst("" if cause in by_name else cause, by_name.get(cause), list(exercises.values()))
        for cause, exercises in affected.items()
    ]


def cell_state(cell: NotebookNode) -> State | None:
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
    return State("✗", word, "bad")


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
