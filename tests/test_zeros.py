"""Who answers wrong earns no more by writing zeros into what a test hands over, or into the own parameters.

A test that looks at its inputs only after the call would compare zeros with what follows from zeros.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from exercises import MISTAKES, SOURCES, belongs, reference, submit
from notebooks import answer, helpers, hidden, notebook

from course.grading.grade import grade
from course.grading.notebook import with_answer
from course.grading.report import Verdict

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


def points(exercise: str, answer: str) -> dict[str, float]:
    """What each test of `exercise` gives for `answer`."""
    report = submit(exercise, answer, whole=False, named=False)
    return {result.name: result.points for result in report.results if belongs(result.name, exercise)}


def gained(exercise: str, fair: str, *unfair: str) -> dict[str, float]:
    """The tests of `exercise` that give more for one of the `unfair` answers than for the `fair` one."""
    deserved = points(exercise, fair)
    return {
        test: given for answer in unfair for test, given in points(exercise, answer).items() if given > deserved[test]
    }


@pytest.mark.parametrize("exercise", SOURCES)
def test_writing_zeros_earns_nothing(exercise: str) -> None:
    """Whether into the inputs, into the parameters or into both."""
    right = reference(exercise)
    fair = zeros(right, inputs=False, parameters=False)
    ways = [(True, True), (True, False), (False, True)]
    assert not gained(exercise, fair, *(zeros(right, inputs=one, parameters=other) for one, other in ways))


@pytest.mark.parametrize("exercise", SOURCES)
def test_no_mistake_is_mended_by_writing_zeros(exercise: str) -> None:
    """A test that takes its inputs for what they were would find the mistake right."""

    def gains(wrong: str) -> dict[str, float]:
        writing = (zeros(wrong, inputs=True, parameters=other, returned=False) for other in (True, False))
        return gained(exercise, wrong, *writing)

    mistakes = {
        mistake.name: mistake.applied_to(reference(exercise)) for mistake in MISTAKES if mistake.exercise == exercise
    }
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(mistakes, pool.map(gains, mistakes.values()), strict=True))
    assert not {name: tests for name, tests in found.items() if tests}


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
