"""The tests of the course are themselves proven: every known misconception loses points, no right style does.

The misconceptions are in source/*/misconceptions/, the right styles in tests/correct_answers/. A right style and one of
five misconceptions is a submission and goes through the one function that grades; all misconceptions of an exercise are
tried in turn, which gives the same points. (If its tests take long, that is no faster, and each is graded.)
"""

from pathlib import Path

import pytest

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.report import Report
from tests.support.draw import drawn
from tests.support.exercises import (
    MISCONCEPTIONS,
    SOURCES,
    STYLES,
    combined_styles,
    lost,
    misconceptions_of,
    notebook_of,
    reference,
)
from tests.support.judge import WITH_LONG_TESTS, Judge, points
from tests.support.schedule import grouped, last

pytestmark = pytest.mark.slow

LEAST_MISCONCEPTIONS, LEAST_STYLES = 6, 3


def title(misconception: Misconception) -> str:
    """The name of a misconception among all."""
    return f"{misconception.exercise}: {misconception.name}"


NAMED = drawn(MISCONCEPTIONS, 5, name=title)
"""Misconceptions that must be named. `python -m benchmarks --only diagnosis` tries all, which takes half an hour."""


def report_on(judge: Judge, misconception: Misconception) -> Report:
    """The report on the reference with a misconception in it, by `grade` and with names."""
    return judge.on_its_own(misconception.exercise, misconception.apply(reference(misconception.exercise)))


def report_in_turn(judge: Judge, misconception: Misconception) -> Report:
    """The same without names, one misconception of the exercise after the other, unless its tests take long."""
    known = misconceptions_of(misconception.exercise)
    right = reference(misconception.exercise)
    if misconception.exercise in WITH_LONG_TESTS:
        return judge.on_its_own(misconception.exercise, misconception.apply(right), named=False)
    return judge.in_turn(misconception.exercise, [each.apply(right) for each in known])[known.index(misconception)]


def complaints(report: Report) -> list[str]:
    """What a report has to say, one text a test."""
    return [f"{result.name}: {result.message}\n{result.log}" for result in report.results if result.message]


@grouped("exercise", SOURCES, group=str)
def test_an_exercise_stands_alone(judge: Judge, exercise: str) -> None:
    """The reference keeps every point where misconceptions are tried: what they lose there is their own loss."""
    assert not lost(judge.on_its_own(exercise, reference(exercise)), exercise)


@grouped(
    "misconception",
    MISCONCEPTIONS,
    group=lambda misconception: misconception.exercise,
    name=title,
)
def test_a_misconception_loses_points_in_its_own_exercise(judge: Judge, misconception: Misconception) -> None:
    """A student with a known misconception does not get full points for the exercise."""
    exercise = misconception.exercise
    assert lost(report_in_turn(judge, misconception), exercise), (
        f"'{misconception.name}' passes every test of {exercise}"
    )


@grouped("misconception", NAMED, group=lambda misconception: misconception.exercise, name=title)
def test_naming_a_misconception_changes_no_points(judge: Judge, misconception: Misconception) -> None:
    """The diagnosis reads what was recorded, and judges nothing; nor do others that are tried in the same sandbox."""
    named, unnamed = (report(judge, misconception) for report in (report_on, report_in_turn))
    assert points(named, misconception.exercise) == points(unnamed, misconception.exercise)


@last
def test_nearly_every_misconception_is_named(judge: Judge) -> None:
    """A message of a failed test says which misconception it is; few behave like another one or like none."""
    nameless = [
        title(each)
        for each in NAMED
        if not any(each.hint in result.message for result in report_on(judge, each).results)
    ]
    assert len(nameless) <= 0.1 * len(NAMED), nameless


@grouped(
    "style",
    STYLES,
    group=lambda style: "styles " + notebook_of(style.parent.name),
    name=lambda style: f"{style.parent.name}: {style.stem}",
)
def test_a_right_answer_in_another_style_keeps_every_point(judge: Judge, style: Path) -> None:
    """However a right answer is written, it costs nothing, in its exercise and in those that build on it.

    Styles that cannot meet in any cell are graded together; on a complaint, each is graded by itself.
    """
    exercise = style.parent.name
    source = SOURCES[exercise]
    [together] = [styles for styles in combined_styles(source) if styles.get(exercise) == style]
    if complaints(judge.in_notebook(source, {name: path.read_text() for name, path in together.items()})):
        own = complaints(judge.in_notebook(source, {exercise: style.read_text()}))
        assert not own, "\n".join(own)


@pytest.mark.parametrize("exercise", SOURCES)
def test_an_exercise_is_proven_by_enough_cases(exercise: str) -> None:
    """There are at least six misconceptions and three right styles for every exercise."""
    names = [misconception.name for misconception in misconceptions_of(exercise)]
    assert len(set(names)) == len(names) >= LEAST_MISCONCEPTIONS
    assert len([style for style in STYLES if style.parent.name == exercise]) >= LEAST_STYLES


def test_every_case_belongs_to_an_exercise() -> None:
    """No misconception and no style is left over from an exercise that is gone."""
    exercises = [each.exercise for each in MISCONCEPTIONS] + [style.parent.name for style in STYLES]
    assert set(exercises) == set(SOURCES) > WITH_LONG_TESTS
