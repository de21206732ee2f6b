"""Two right answers may differ in the last digit of each number: only what moves numbers must be exact.

The reference, with every number that it returns one step larger, plays an answer that computes in another order. Two
more variants return another dtype, or float64 with the digits of float32: what a test says to them must be true.
"""

import ast

import pytest

from grader.engine.report import Report, Result
from tests.support.exercises import SOURCES, reference
from tests.support.judge import Judge
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

WRAPPED = """
ANSWER

def _changed(value):
    if isinstance(value, torch.Tensor):
        return CHANGE if value.dtype in (torch.float32, torch.float64) else value
    if type(value) in (tuple, list):
        return type(value)(_changed(each) for each in value)
    if type(value) is dict:
        return {key: _changed(each) for key, each in value.items()}
    return value * (1 + 1e-7) if type(value) is float else value

def _changing(function):
    def changing(*arguments, **named):
        return _changed(function(*arguments, **named))
    return changing

for _part in (PARTS,):
    if not isinstance(_part, type):
        globals()[_part.__name__] = _changing(_part)
        continue
    for _name, _method in list(vars(_part).items()):
        if callable(_method) and not _name.startswith("__"):
            setattr(_part, _name, _changing(_method))
"""
LAST_DIGIT = "value * (1 + torch.finfo(value.dtype).eps)"
SINGLE_DIGITS = "value.float().to(value.dtype)"
OTHER_DTYPE = "value.to(torch.float64 if value.dtype == torch.float32 else torch.float32)"
MOVES = {
    "one-hot", "embedding", "last-states", "pack", "unpack", "split-heads", "combine-heads", "add-mask", "patchify",
    "update-cache", "paged-cache",
}  # fmt: skip
"""Exercises that choose, move or hide numbers, and compute none."""
EXACT = {
    "dropout": {"dropout-check", "dropout-test-values", "dropout-test-eval"},
    "attend": {"attend-test-padding"},
    "non-local": {"non-local-check", "non-local-test-start"},
    "decoder-block": {"decoder-block-check", "decoder-block-test-skip"},
    "summaries": {"summaries-test-pieces", "summaries-test-order"},
}
"""Tests of a number that a text promises exactly: what comes back as it was, a weight of 1, the largest score."""


def changed(right: str, change: str) -> str:
    """The answer `right` whose functions and methods change the floats that they return."""
    parts = [node.name for node in ast.parse(right).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return WRAPPED.replace("PARTS", ", ".join(parts)).replace("CHANGE", change).replace("ANSWER", right)


def failed(report: Report) -> list[Result]:
    """The tests that took points."""
    return [result for result in report.results if result.points < result.max_points]


@grouped("exercise", [each for each in SOURCES if each not in MOVES], group=str)
def test_an_answer_that_differs_in_the_last_digit_keeps_its_points(judge: Judge, exercise: str) -> None:
    """In the visible check and in the hidden tests, but for those that say "exactly"."""
    report = judge.on_its_own(exercise, changed(reference(exercise), LAST_DIGIT))
    assert {result.name for result in failed(report)} == EXACT.get(exercise, set())


@grouped("exercise", list(SOURCES), group=str)
def test_an_answer_of_another_dtype_gets_a_sentence(judge: Judge, exercise: str) -> None:
    """A visible check never quotes torch's "Double did not match Float"."""
    report = judge.on_its_own(exercise, changed(reference(exercise), OTHER_DTYPE))
    assert not [result.name for result in failed(report) if "did not match" in result.message]


@grouped("exercise", list(SOURCES), group=str)
def test_lost_digits_are_not_taken_for_a_lost_gradient(judge: Judge, exercise: str) -> None:
    """Finite differences in float64 fail on the digits of float32: a question about the cause asks for this, too."""
    report = judge.on_its_own(exercise, changed(reference(exercise), SINGLE_DIGITS))
    asked = [result.message for result in failed(report) if "detached" in result.message]
    assert not [message for message in asked if "float32" not in message]


def test_an_exact_comparison_is_found(judge: Judge) -> None:
    """The proof above can fail: a one in float32 is no longer 1."""
    exercise = "one-hot"
    report = judge.on_its_own(exercise, changed(reference(exercise), LAST_DIGIT))
    assert "one-hot-check" in {result.name for result in failed(report)}
