"""Turns results of tests into a view of each exercise, which terminal, page, service and notebook only render.

results of tests --views--> ExerciseView: state, diagnosis, reasons (each once, with its tests), what comes first
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from grader.engine.explanation import Cause, Explanation

T = TypeVar("T")
MADE_UP = re.compile(r"\bcell-[0-9a-f]{16}\b")
"""A name that nbgrader makes up for a cell."""

NEEDED_BEFORE = (Cause.UNDEFINED, Cause.OUT_OF_TIME, Cause.NOT_GRADED)
"""Causes that may be outside the exercise and cost points in several."""


class Judged(Protocol):
    """The fields of a result that a view needs; report.py describes them."""

    name: str
    exercise: str
    points: float
    max_points: float
    explanation: Explanation


class ExerciseState(msgspec.Struct, frozen=True):
    """The outcome of an exercise or a cell: a sign and words that do not depend on colour, and a name for a style."""

    sign: str
    word: str
    style: str


RIGHT = ExerciseState("✓", "right", "good")
PARTLY = ExerciseState("◐", "partly right", "part")
WRONG = ExerciseState("✗", "not right yet", "bad")
NOT_WRITTEN = ExerciseState("○", "not written yet", "blank")
UNGRADABLE = ExerciseState("–", "cannot be graded", "blank")
"""All points that are missing are those of tests that are themselves at fault."""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cause of failures.

    Args:
        sentence: what was wrong.
        tests: the tests that it failed.
        claims: properties that do not hold because of it.
        first: the exercise that has to be written first; '' if there is none.
        is_shared: whether it may be outside the exercise and cost points in others as well.
    """

    sentence: str
    tests: tuple[str, ...]
    claims: tuple[str, ...] = ()
    first: str = ""
    is_shared: bool = False


class ExerciseView(msgspec.Struct, frozen=True):
    """An exercise as students see it.

    Args:
        exercise: its name.
        points: the points of its tests.
        max_points: the points that they can give.
        state: how it ended.
        diagnosis: the known mistake that behaves exactly like the answer; '' if none does.
        reasons: the causes of its failures.
        judged_with: exercises that lost points and were replaced by our answers.
    """

    exercise: str
    points: float
    max_points: float
    state: ExerciseState
    diagnosis: str
    reasons: tuple[Reason, ...]
    judged_with: tuple[str, ...]

    @property
    def percent(self) -> float:
        """Which part of the points was earned, 0 to 100."""
        return 100 * max(0.0, min(1.0, self.points / self.max_points)) if self.max_points else 100.0


def relabelled(text: str, labels: Mapping[str, str]) -> str:
    """Return a text for people with labels in the place of the names that nbgrader made up; see `Outline.labels`."""
    return MADE_UP.sub(lambda name: labels.get(name[0], name[0]), text) if labels else text


def with_labels(items: Sequence[T], labels: Mapping[str, str]) -> list[T]:
    """Return results, or other data of one type, with labels in the place of made-up names in all their texts."""
    if not (labels and items):
        return list(items)
    return [msgspec.convert(_relabelled(msgspec.to_builtins(item), labels), type(item)) for item in items]


def _relabelled(value: Any, labels: Mapping[str, str]) -> Any:
    match value:
        case str():
            return relabelled(value, labels)
        case list() | tuple():
            return [_relabelled(each, labels) for each in value]
        case dict():
            return {_relabelled(key, labels): _relabelled(each, labels) for key, each in value.items()}
    return value


def views(results: Iterable[Judged]) -> list[ExerciseView]:
    """Return the views of all exercises that have tests, in order.

    Args:
        results: the results of all tests.
    """
    tests: dict[str, list[Judged]] = {}
    for result in results:
        tests.setdefault(result.exercise or result.name, []).append(result)
    return [view(exercise, results) for exercise, results in tests.items()]


def view(exercise: str, results: Sequence[Judged]) -> ExerciseView:
    """Return the view of one exercise.

    Args:
        exercise: its name.
        results: the results of its tests.
    """
    points, max_points = sum(each.points for each in results), sum(each.max_points for each in results)
    failed = [each for each in results if each.points < each.max_points]
    is_blank = any(_is_blank(each.explanation, exercise) for each in failed)
    state = RIGHT if points >= max_points else PARTLY if points else NOT_WRITTEN if is_blank else WRONG
    if failed and all(each.explanation.cause is Cause.UNGRADABLE for each in failed):
        state = UNGRADABLE
    shown = [each for each in failed if state is not NOT_WRITTEN or not _is_blank(each.explanation, exercise)]
    diagnosis = next((text for each in failed if (text := each.explanation.diagnosis)), "")
    used = dict.fromkeys(name for each in results for name in each.explanation.judged_with)
    return ExerciseView(exercise, points, max_points, state, diagnosis, _reasons(shown, exercise), tuple(used))


def first_to_do(shown: Iterable[ExerciseView]) -> ExerciseView | None:
    """Return the first exercise that is not right, and that the student can do something about."""
    return next((each for each in shown if each.state not in (RIGHT, UNGRADABLE)), None)


def _reasons(failed: Iterable[Judged], exercise: str) -> tuple[Reason, ...]:
    """Merge failures that have the same cause."""
    found: dict[object, Reason] = {}
    for result in failed:
        explanation, reason = result.explanation, _reason(result, exercise)
        if not reason.sentence:
            continue  # hidden from students until the due time
        # A visible check quotes the text of an error, a hidden test does not, and both have the same cause.
        raised = explanation.cause is Cause.RAISED
        key = (explanation.error, explanation.where) if raised else reason.sentence
        if known := found.get(key):
            reason = msgspec.structs.replace(
                known, tests=known.tests + reason.tests, claims=known.claims + reason.claims
            )
        found[key] = reason
    return tuple(found.values())


def _reason(result: Judged, exercise: str) -> Reason:
    explanation, tests = result.explanation, (result.name,)
    if _is_blank(explanation, exercise):
        return Reason("a part is not written yet", tests)
    if explanation.cause is Cause.NOT_WRITTEN and explanation.where is not None:
        return Reason(f"first write {explanation.where.cell}", tests, first=explanation.where.cell)
    if explanation.cause in NEEDED_BEFORE:
        return Reason(explanation.reason, tests, is_shared=True)
    if not explanation.reason:
        return Reason(explanation.claim, tests)
    return Reason(explanation.reason, tests, (explanation.claim,) if explanation.claim else ())


def _is_blank(explanation: Explanation, exercise: str) -> bool:
    """Return whether the exercise itself is blank, rather than one that it calls."""
    where = explanation.where
    return explanation.cause is Cause.NOT_WRITTEN and (where is None or where.cell == exercise)
