"""Each level of disclosure shows the points and the state of an exercise as they are, and less of the reasons."""

import copy
import json
from html import escape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.commands.serve.policy import EVERYTHING, POINTS, SENTENCES, published
from grader.engine.explanation import Cause, Explanation, KnownMistake, Where
from grader.engine.notebook.plan import Role, Step
from grader.engine.report import Report, Result, Verdict
from grader.engine.view import views
from grader_kernel.report_html import _exercise_shown

LEVELS = (EVERYTHING, SENTENCES, POINTS)
MISTAKE = KnownMistake("adds 1", "Leave it.")
FAILURES = {
    Verdict.FAILED: Explanation(cause=Cause.PROPERTY, detail="The sentence.", misconceptions=(MISTAKE,)),
    Verdict.ERROR: Explanation(cause=Cause.NOT_WRITTEN, where=Where("one", 1, "raise NotImplementedError")),
    Verdict.CRASHED: Explanation(cause=Cause.STOPPED, detail="the sandbox ended"),
    Verdict.UNGRADABLE: Explanation(cause=Cause.UNGRADABLE),
}


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Results of exercises with a check and hidden tests, some of them judged with our earlier answers."""
    found = []
    for exercise in draw(st.lists(st.sampled_from(["one", "two", "split-heads"]), min_size=1, max_size=3, unique=True)):
        for number in range(draw(st.integers(1, 4))):
            result = draw(outcomes(f"{exercise}-test-{number}" if number else f"{exercise}-check", exercise))
            if draw(st.booleans()):
                result = replace(result, alone=draw(outcomes(result.name, exercise, result.max_points)))
            found.append(result)
    return found


@st.composite
def outcomes(draw: st.DrawFn, name: str, exercise: str, max_points: float | None = None) -> Result:
    """A test that gave all points, a part of them or none."""
    most = draw(st.sampled_from([0.0, 1.0, 2.0, 2.5])) if max_points is None else max_points
    part = draw(st.sampled_from([0.0, 0.5, 1.0]))
    if part == 1 or not most:
        return Result(name, exercise, Verdict.PASSED, most, most)
    if part:
        return Result(name, exercise, Verdict.PASSED, most / 2, most, Explanation(cause=Cause.PART))
    verdict = draw(st.sampled_from(list(FAILURES)))
    return Result(name, exercise, verdict, 0.0, most, FAILURES[verdict])


def steps(found: list[Result]) -> dict[str, Step]:
    """The tests of the source, of which all but the checks are hidden."""
    return {
        each.name: Step(0, each.name, Role.TEST, "", each.exercise, each.max_points, "-test-" in each.name)
        for each in found
    }


def seen(form: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The number and the state of each exercise in a report."""
    return [(each["exercise"], each["points"], each["max_points"], each["state"]["word"]) for each in form["exercises"]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("is_alone", [False, True])
@given(found=results())
def test_points_and_state_of_an_exercise_are_the_same_at_each_level(
    level: str, is_alone: bool, found: list[Result]
) -> None:
    """Also "right", which is shown if and only if no point was lost; the notebook shows the same."""
    form = published(Report(found).as_json(), level, steps(found), is_alone=is_alone)
    judged = [each.alone or each for each in found] if is_alone else found
    true = views(judged)
    assert seen(form) == [(each.exercise, each.points, each.max_points, each.state.word) for each in true]
    assert (form["points"], form["max_points"]) == (
        sum(each.points for each in judged), sum(each.max_points for each in judged)
    )  # fmt: skip
    for exercise in form["exercises"]:
        tests = [each for each in judged if each.exercise == exercise["exercise"]]
        is_right = all(each.points == each.max_points for each in tests)
        assert (exercise["state"]["word"] == "right") == is_right
        line = f"{exercise['points']:g} of {exercise['max_points']:g} points"
        head = f"<strong>{escape(exercise['exercise'])}</strong>: {exercise['state']['word']}, {line}"
        assert head in _exercise_shown(exercise)
    assert form["next"] == next((each.exercise for each in true if each.state.style in ("part", "bad")
                                 or each.state.word == "not written yet"), "")  # fmt: skip


@given(found=results())
def test_less_is_shown_at_each_level(found: list[Result]) -> None:
    """Points show no name of a hidden test and no sentence; sentences show no diagnosis; everything is the report."""
    report = Report(found).as_json() | {"repairs": ["moved"]}
    shown = {level: published(report, level, steps(found)) for level in LEVELS}
    text = {level: json.dumps(form) for level, form in shown.items()}
    hidden = ("-test-", "sentence", "adds 1", "NotImplementedError", "sandbox", "moved")
    assert not any(word in text[POINTS] for word in hidden)
    assert not any(each["reasons"] or each["diagnosis"] or each["judged_with"] for each in shown[POINTS]["exercises"])
    assert "adds 1" not in text[SENTENCES] and "Leave it." not in text[SENTENCES]
    assert [test["message"] for test in shown[SENTENCES]["tests"]] == [
        replace(each.explanation, misconceptions=()).message if each.explanation else each.message for each in found
    ]
    assert shown[SENTENCES]["repairs"] == shown[EVERYTHING]["repairs"] == ["moved"]
    assert [test | {"alone": None} for test in shown[EVERYTHING]["tests"]] == [
        test | {"alone": None} for test in report["tests"]
    ]


def test_a_report_of_an_earlier_version_has_the_exercises_of_the_source() -> None:
    """It names only tests, and a diagnosis is part of a message, which is withheld as a whole."""
    found = [
        Result("split-heads-check", "split-heads", Verdict.PASSED, 1.0, 1.0),
        Result("split-heads-test-a", "split-heads", Verdict.PASSED, 2.0, 2.0),
        Result("split-heads-test-b", "split-heads", Verdict.FAILED, 0.0, 1.0, FAILURES[Verdict.FAILED]),
        Result("split-heads-test-c", "split-heads", Verdict.ERROR, 0.0, 1.0, FAILURES[Verdict.ERROR]),
    ]
    old = copy.deepcopy(Report(found).as_json())
    for test in old["tests"]:
        del test["exercise"]
        test.pop("explanation", None)
    shown = {level: published(old, level, steps(found)) for level in LEVELS}
    for form in shown.values():
        assert seen(form) == [("split-heads", 3.0, 5.0, "partly right")]
    assert "split-heads-test" not in json.dumps(shown[POINTS])
    messages = [each.message for each in found]
    assert "adds 1" in messages[2] and [test["message"] for test in shown[EVERYTHING]["tests"]] == messages
    assert [test["message"] for test in shown[SENTENCES]["tests"]] == [*messages[:2], "", messages[3]]


def test_a_test_that_the_source_no_longer_has_is_taken_for_a_hidden_one() -> None:
    """Its name may say what it checks."""
    found = [Result("one-test-secret", "one", Verdict.PASSED, 1.0, 1.0)]
    form = published(Report(found).as_json(), POINTS, {})
    assert "secret" not in json.dumps(form) and seen(form) == [("one", 1.0, 1.0, "right")]
