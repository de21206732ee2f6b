"""Finds the exercises of an autograded notebook: how each ended, why, and which causes affect several of them."""

import re
from dataclasses import dataclass
from html import escape

from markupsafe import Markup
from msgspec.structs import replace
from nbformat import NotebookNode

from grader.classroom.gradebook.rules import NO_RESPONSE, CellScore
from grader.classroom.page import formulas
from grader.engine.explanation import Explanation
from grader.engine.notebook.cells import CellType, explanation_of, grade_id, type_of
from grader.engine.notebook.outline import GRADED, Exercise, Outline
from grader.engine.report import Result, Verdict
from grader.engine.view import NOT_WRITTEN, PARTLY, RIGHT, UNGRADABLE, WRONG, ExerciseState, ExerciseView, Reason, view

HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
INLINE = re.compile(r"\$([^$\n]+)\$|`([^`\n]+)`")
MARKUP = re.compile(r"[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}")
MAX_HEADING = 200


NO_ANSWER = ExerciseState("○", "no answer yet", "blank")
WAITING = ExerciseState("…", "waits for marking", "wait")
SO_FAR = ExerciseState("✓", "right so far", "good")
"""All points that are known were given, and others wait for a person."""
PASSED = ExerciseState("✓", "passed", "good")
BY_PERSON = "set by a person"


@dataclass
class PageExercise:
    """An exercise or a written answer on the page, with links to it and its text.

    `stopped` is the error that ended its answer, `comment` the comment on it. The view is of the tests whose points
    are known; `waiting` are the points of the others, and `by_person` counts tests whose points a person set.
    """

    view: ExerciseView
    is_written: bool
    anchor: str
    heading: Markup
    heading_anchor: str
    stopped: str
    comment: str
    waiting: float = 0.0
    by_person: int = 0

    @property
    def name(self) -> str:
        """The grade_id of its answer."""
        return self.view.exercise

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return self.view.state in (NO_ANSWER, NOT_WRITTEN)

    @property
    def reasons(self) -> list[Reason]:
        """The causes that belong to the exercise alone; others appear above all exercises."""
        return [reason for reason in self.view.reasons if not (reason.first or reason.is_shared)]


@dataclass
class FixFirst:
    """One cause in several exercises, with the exercise to fix and the affected ones."""

    sentence: str
    exercise: PageExercise | None
    affected: list[PageExercise]


def anchor(cell: NotebookNode) -> str:
    """Return the id of a cell on the page."""
    return f"cell-{escape(str(cell.get('id', '')))}"


def exercises(notebook: NotebookNode) -> list[PageExercise]:
    """Return the exercises and written answers of an autograded notebook, in order.

    Args:
        notebook: the notebook, with score, points and comment in the metadata of its cells.
    """
    outline = Outline(notebook)
    headings, heading = [], ("", "")
    for cell, kind in zip(notebook.cells, outline.types, strict=True):
        is_ours = cell.cell_type == "markdown" and kind is not CellType.MANUAL_ANSWER
        if is_ours and (match := HEADING.search(cell.source)):
            heading = match[1], anchor(cell)
        headings.append(heading)
    found = [_exercise(outline, each, headings) for each in outline.exercises.values()]
    return [each for each in found if each.view.max_points or outline.exercises[each.name].tests]


def _exercise(outline: Outline, known: Exercise, headings: list[tuple[str, str]]) -> PageExercise:
    cells = outline.notebook.cells
    place = min([*known.tests, *([] if known.answer is None else [known.answer])])
    answer = NotebookNode() if known.answer is None else cells[known.answer]
    comment = answer.get("metadata", {}).get("nbgrader", {}).get("comment") or ""
    scores = {number: score_of(cells[number]) for number in known.tests}
    settled = [number for number, score in scores.items() if not score.needs_marking]
    waiting = 0.0
    if known.is_question:
        score = score_of(answer)
        shown = ExerciseView(known.name, score.points, score.max_points, _state_of_answer(score, comment), "", (), ())
    elif not settled:
        shown = ExerciseView(known.name, 0.0, sum(each.max_points for each in scores.values()), WAITING, "", (), ())
    else:
        shown = view(known.name, [_result(cells[number], known.name) for number in settled])
        waiting = sum(each.max_points for each in scores.values() if each.needs_marking)
        shown = replace(shown, state=SO_FAR) if waiting and shown.state == RIGHT else shown
    errors = [f"{each.ename}: {each.evalue}" for each in answer.get("outputs", ()) if each.output_type == "error"]
    heading, heading_anchor = headings[place]
    return PageExercise(
        shown, known.is_question, anchor(cells[place]), _inline(heading), heading_anchor, "".join(errors[:1]), comment,
        waiting, sum(scores[number].is_by_person for number in settled),
    )  # fmt: skip


def _result(cell: NotebookNode, exercise: str) -> Result:
    """Return the result of a test from the notebook. What the test says is no reason for points that a person set."""
    score = score_of(cell)
    verdict = Verdict.PASSED if _is_full(score) else _ended(cell) or Verdict.FAILED
    explanation = Explanation() if score.is_by_person else explanation_of(cell)
    return Result(grade_id(cell) or "", exercise, verdict, score.points, score.max_points, explanation)


def _state_of_answer(score: CellScore, comment: str) -> ExerciseState:
    if score.needs_marking:
        return WAITING
    if _is_full(score):
        return RIGHT
    return PARTLY if score.points else NO_ANSWER if comment == NO_RESPONSE else WRONG


def fix_first(found: list[PageExercise]) -> list[FixFirst]:
    """Return the causes that affect a different exercise or several."""
    by_name = {exercise.name: exercise for exercise in found}
    affected: dict[str, dict[str, PageExercise]] = {}
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
    """Return the state of a graded cell; None for a cell without points."""
    kind = type_of(cell)
    if kind not in GRADED or "points" not in cell.metadata.nbgrader:
        return None
    score = score_of(cell)
    if score.needs_marking:
        return WAITING
    if is_by_person(cell):
        like = RIGHT if _is_full(score) else PARTLY if score.points else WRONG
        return ExerciseState(like.sign, BY_PERSON, like.style)
    if _is_full(score):
        return PASSED if kind is CellType.TEST else RIGHT
    if score.points:
        return PARTLY
    if _ended(cell) is Verdict.UNGRADABLE:
        return UNGRADABLE
    return ExerciseState("✗", _ended(cell) or ("failed" if kind is CellType.TEST else "no points"), "bad")


def is_by_person(cell: NotebookNode) -> bool:
    """Return whether the cell is a test, and a person set its points."""
    return type_of(cell) is CellType.TEST and score_of(cell).is_by_person


def put_score(cell: NotebookNode, score: CellScore) -> None:
    """Write the score of a graded cell into its metadata, as nbgrader does, and whether a person gave it."""
    cell.metadata.nbgrader.update(
        score=score.points,
        points=score.max_points,
        needs_marking=score.needs_marking,
        by_person=score.manual is not None,
    )


def score_of(cell: NotebookNode) -> CellScore:
    """Return the score in the metadata of a graded cell. One without a score waits for a person."""
    scores = cell.metadata.nbgrader
    given, is_by_person = scores.get("score"), bool(scores.get("by_person"))
    waits = bool(scores.get("needs_marking")) or given is None
    is_test = type_of(cell) is CellType.TEST
    auto, manual = (None, given) if is_by_person else (given, None)
    return CellScore(scores.get("points") or 0.0, auto, manual, needs_marking=waits, is_test=is_test)


def _is_full(score: CellScore) -> bool:
    return score.points >= score.max_points


def _ended(cell: NotebookNode) -> Verdict | None:
    """Return the verdict on a cell that did not run to its end."""
    name = next((output.ename for output in cell.get("outputs", ()) if output.output_type == "error"), "")
    return Verdict(name) if name in set(Verdict) else None


def _inline(heading: str) -> Markup:
    """Return a heading as HTML, with its formulas and names drawn and without other markup."""
    shown = ""
    # Each text is followed by a formula or a name, and the last by neither.
    parts = [*INLINE.split(heading[:MAX_HEADING]), "", ""]
    for text, tex, code in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        shown += escape(MARKUP.sub(r"\1", text))
        shown += formulas.drawn(tex) if tex else f"<code>{escape(code)}</code>" if code else ""
    return Markup(shown)
