"""A wrong answer earns no more by overwriting or emptying the inputs of a call, or its own parameters.

A test that looks at its inputs only after the call would compare zeros with what follows from zeros. If they have been
emptied, it would compare no numbers at all.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.support.draw import drawn
from tests.support.exercises import SOURCES, makes_modules, misconceptions_of, reference
from tests.support.judge import Judge, points
from tests.support.notebooks import answer, helpers, hidden, notebook, with_answer
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

WRITING = """
import types

def zeros_for(answer):
    if isinstance(answer, torch.Tensor):
        return torch.zeros_like(answer)
    if isinstance(answer, (list, tuple)):
        return type(answer)(map(zeros_for, answer))
    if isinstance(answer, dict):
        return {name: zeros_for(part) for name, part in answer.items()}
    return type(answer)(0) if isinstance(answer, (bool, int, float)) else answer

def nothing_for(answer):
    if isinstance(answer, torch.Tensor):
        # Along all axes, if parameters are emptied: a weight without inputs and outputs then fits the rest.
        axes = max(answer.dim(), 1) if PARAMETERS else 1
        return torch.atleast_1d(answer)[(slice(0),) * axes]
    if isinstance(answer, tuple):
        return type(answer)(map(nothing_for, answer))
    return type(answer)() if isinstance(answer, (list, dict)) else zeros_for(answer)

def parts_in(part):
    if isinstance(part, nn.Module) and PARAMETERS:
        yield from part.parameters()
    elif isinstance(part, torch.Tensor) and INPUTS:
        yield part
    elif isinstance(part, (list, tuple)):
        for item in part:
            yield from parts_in(item)
    elif isinstance(part, dict):
        yield from parts_in(list(part.values()))
    if isinstance(part, (list, dict)) and INPUTS:
        yield part

def write_into(part):
    if isinstance(part, torch.Tensor) and EMPTY:
        part.data = nothing_for(part.data)
    elif isinstance(part, torch.Tensor):
        part.data.zero_()
    elif EMPTY:
        part.clear()

def that_writes(function):
    def forward(*arguments, **named):
        answer = function(*arguments, **named)
        if RETURNED:
            answer = nothing_for(answer) if EMPTY else zeros_for(answer)
        for part in [*parts_in((*arguments, *named.values()))]:
            write_into(part)
        return answer
    return forward

BEFORE = dict(globals())
ANSWER
for name, item in list(globals().items()):
    if BEFORE.get(name) is item or getattr(item, "__module__", None) != __name__:
        continue
    if isinstance(item, types.FunctionType):
        globals()[name] = that_writes(item)
    elif isinstance(item, type) and issubclass(item, nn.Module):
        item.forward = that_writes(item.forward)
"""
Way = TypeVar("Way")
WAYS = [(inputs, parameters) for inputs in (False, True) for parameters in (False, True)]
"""Whether an answer writes into its inputs, and whether it writes into its parameters."""


def zeros(answer: str, *, inputs: bool, parameters: bool, returned: bool = True) -> str:
    """The `answer` that computes, writes zeros into its inputs and its parameters and then returns zeros, or not."""
    settings = f"EMPTY, INPUTS, PARAMETERS, RETURNED = False, {inputs}, {parameters}, {returned}\n"
    return settings + WRITING.replace("ANSWER", answer)


def nothing(answer: str, *, inputs: bool, parameters: bool) -> str:
    """The `answer` that computes, empties its inputs and its parameters and then returns empty tensors and lists."""
    settings = f"EMPTY, INPUTS, PARAMETERS, RETURNED = True, {inputs}, {parameters}, True\n"
    return settings + WRITING.replace("ANSWER", answer)


def points_for(judge: Judge, exercise: str, answers: Mapping[Way, str]) -> dict[Way, dict[str, float]]:
    """The points that each test of `exercise` gives for each of the `answers`."""
    reports = judge.in_turn(exercise, list(answers.values()))
    return {way: points(report, exercise) for way, report in zip(answers, reports, strict=True)}


def gained(unfair: dict[str, float], fair: dict[str, float]) -> dict[str, float]:
    """The tests that give more for the unfair answer than for the fair one."""
    return {test: given for test, given in unfair.items() if given > fair[test]}


@grouped("exercise", SOURCES, group=str)
def test_writing_zeros_earns_nothing(judge: Judge, exercise: str) -> None:
    """Neither into the inputs, nor into the parameters, nor into both.

    It makes no difference to parameters where no test meets a module: the next tests rely on that.
    """
    right = reference(exercise)
    answers = {(inputs, parameters): zeros(right, inputs=inputs, parameters=parameters) for inputs, parameters in WAYS}
    given = points_for(judge, exercise, answers)
    assert not [way for way in given if gained(given[way], given[False, False])]
    if not makes_modules(exercise, right):
        assert given[True, True] == given[True, False] and given[False, True] == given[False, False]


@grouped("exercise", SOURCES, group=str)
def test_emptying_earns_nothing(judge: Judge, exercise: str) -> None:
    """Zeros earn as much as an empty answer, whatever that has emptied: `all()` and `allclose` hold for no numbers."""
    right = reference(exercise)
    answers = {"zeros": zeros(right, inputs=False, parameters=False)} | {
        f"{inputs=} {parameters=}": nothing(right, inputs=inputs, parameters=parameters)
        for inputs, parameters in WAYS
        if not parameters or makes_modules(exercise, right)
    }
    given = points_for(judge, exercise, answers)
    assert not {way: tests for way in given if (tests := gained(given[way], given["zeros"]))}


@grouped("exercise", SOURCES, group=str)
def test_no_misconception_is_mended_by_writing_zeros(judge: Judge, exercise: str) -> None:
    """A test that takes its inputs for what they were would pass the misconception. Each commit tries a fourth."""
    answers = {}
    for misconception in drawn(misconceptions_of(exercise), 4, name=lambda each: f"{exercise}: {each.name}"):
        wrong = misconception.apply(reference(exercise))
        answers[misconception.name, "as it is"] = wrong
        for parameters in (True, False) if makes_modules(exercise, wrong) else (False,):
            written = zeros(wrong, inputs=True, parameters=parameters, returned=False)
            answers[misconception.name, f"{parameters=}"] = written
    given = points_for(judge, exercise, answers)
    assert not {way: tests for way in given if (tests := gained(given[way], given[way[0], "as it is"]))}


TENSOR = "def double(x): return 2 * x", "x = torch.ones(3); assert torch.equal(double(x), 2 * x)", "inputs"
LIST = "def double(x): return x + x", "x = [1, 2]; assert double(x) == x + x", "inputs"
LAYER = (
    "class Double(nn.Linear): pass",
    "m = Double(3, 3); assert torch.equal(m(torch.eye(3)), m.weight.T + m.bias)",
    "parameters",
)


@pytest.mark.parametrize(
    ("write", "right", "test", "written"),
    [(zeros, *TENSOR), (zeros, *LAYER), (nothing, *TENSOR), (nothing, *LAYER), (nothing, *LIST)],
)
def test_a_test_without_copies_is_found(write: Callable[..., str], right: str, test: str, written: str) -> None:
    """What it returns passes a careless test once it is written, too, and only then: the proofs above can fail."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("double", right),
        hidden("double-test", "It doubles.", test),
    )
    for writes in (False, True):
        wrong = write(right, **{"inputs": False, "parameters": False, written: writes})
        [result] = grade(source, with_answer(source, "double", wrong)).results
        assert (result.verdict is Verdict.PASSED) == writes


def test_a_test_that_compares_no_numbers_is_found() -> None:
    """An empty answer passes a test that looks at each number, and zeros do not: no input has to be emptied for it."""
    right = "def double(x): return 2 * x"
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("double", right),
        hidden("double-test", "It doubles.", "assert (double(torch.ones(3)) == 2).all()"),
    )
    for write in (zeros, nothing):
        wrong = write(right, inputs=False, parameters=False)
        [result] = grade(source, with_answer(source, "double", wrong)).results
        assert (result.verdict is Verdict.PASSED) == (write is nothing)
