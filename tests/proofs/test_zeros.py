"""A wrong answer earns no more by writing zeros into the inputs of a call, or into its own parameters.

A test that looks at its inputs only after the call would compare zeros with what follows from zeros.
"""

import pytest

from grader.grading import grade
from grader.report import Verdict
from tests.support.exercises import SOURCES, makes_modules, misconceptions_of, reference
from tests.support.judge import Judge, points
from tests.support.notebooks import answer, helpers, hidden, notebook, with_answer
from tests.support.schedule import grouped

ZEROS = """
import types

def zeros_for(answer):
    if isinstance(answer, torch.Tensor):
        return torch.zeros_like(answer)
    if isinstance(answer, (list, tuple)):
        return type(answer)(map(zeros_for, answer))
    if isinstance(answer, dict):
        return {name: zeros_for(part) for name, part in answer.items()}
    return type(answer)(0) if isinstance(answer, (bool, int, float)) else answer

def tensors_in(part):
    if isinstance(part, nn.Module) and PARAMETERS:
        yield from part.parameters()
    elif isinstance(part, torch.Tensor) and INPUTS:
        yield part
    elif isinstance(part, (list, tuple)):
        for item in part:
            yield from tensors_in(item)
    elif isinstance(part, dict):
        yield from tensors_in(list(part.values()))

def with_zeros(function):
    def forward(*arguments, **named):
        answer = function(*arguments, **named)
        if RETURNS_ZEROS:
            answer = zeros_for(answer)
        for tensor in tensors_in([arguments, named]):
            tensor.data.zero_()
        return answer
    return forward

BEFORE = set(globals())
ANSWER
for name, item in list(globals().items()):
    if name in BEFORE or getattr(item, "__module__", None) != __name__:
        continue
    if isinstance(item, types.FunctionType):
        globals()[name] = with_zeros(item)
    elif isinstance(item, type) and issubclass(item, nn.Module):
        item.forward = with_zeros(item.forward)
"""


def zeros(answer: str, *, inputs: bool, parameters: bool, returned: bool = True) -> str:
    """The `answer` that computes, writes zeros into its inputs and its parameters and then returns zeros, or not."""
    settings = f"INPUTS, PARAMETERS, RETURNS_ZEROS = {inputs}, {parameters}, {returned}\n"
    return settings + ZEROS.replace("ANSWER", answer)


def points_for(judge: Judge, exercise: str, answer: str) -> dict[str, float]:
    """The points that each test of `exercise` gives for `answer`."""
    return points(judge.on_its_own(exercise, answer, named=False), exercise)


def gained(unfair: dict[str, float], fair: dict[str, float]) -> dict[str, float]:
    """The tests that give more for the unfair answer than for the fair one."""
    return {test: given for test, given in unfair.items() if given > fair[test]}


@grouped("exercise", SOURCES, group=str)
def test_writing_zeros_earns_nothing(judge: Judge, exercise: str) -> None:
    """Neither into the inputs, nor into the parameters, nor into both.

    It makes no difference to parameters where no test meets a module: the next test relies on that.
    """
    right = reference(exercise)
    given = {
        (inputs, parameters): points_for(judge, exercise, zeros(right, inputs=inputs, parameters=parameters))
        for inputs in (False, True)
        for parameters in (False, True)
    }
    assert not [way for way in given if gained(given[way], given[False, False])]
    if not makes_modules(exercise, right):
        assert given[True, True] == given[True, False] and given[False, True] == given[False, False]


@grouped("exercise", SOURCES, group=str)
def test_no_misconception_is_mended_by_writing_zeros(judge: Judge, exercise: str) -> None:
    """A test that takes its inputs for what they were would pass the misconception."""
    gains = {}
    for misconception in misconceptions_of(exercise):
        wrong = misconception.apply(reference(exercise))
        # The proof that it loses points has the same report: naming it changes no points.
        fair = points(judge.on_its_own(exercise, wrong), exercise)
        for parameters in (True, False) if makes_modules(exercise, wrong) else (False,):
            answer = zeros(wrong, inputs=True, parameters=parameters, returned=False)
            gains[misconception.name, parameters] = gained(points_for(judge, exercise, answer), fair)
    assert not {way: tests for way, tests in gains.items() if tests}


@pytest.mark.parametrize(
    ("right", "test", "written"),
    [
        ("def double(x): return 2 * x", "x = torch.ones(3); assert torch.equal(double(x), 2 * x)", "inputs"),
        (
            "class Double(nn.Linear): pass",
            "m = Double(3, 3); assert torch.equal(m(torch.eye(3)), m.weight.T + m.bias)",
            "parameters",
        ),
    ],
)
def test_a_test_without_copies_is_found(right: str, test: str, written: str) -> None:
    """Zeros pass a careless test once they are written, and only then: the proof above can fail."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("double", right),
        hidden("double-test", "It doubles.", test),
    )
    for writes in (False, True):
        wrong = zeros(right, **{"inputs": False, "parameters": False, written: writes})
        [result] = grade(source, with_answer(source, "double", wrong)).results
        assert (result.verdict is Verdict.PASSED) == writes
