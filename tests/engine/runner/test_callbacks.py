"""A test hands student code a function of its own, for example a model that counts its calls, and sees each call."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.support.notebooks import answer, helpers, hidden, notebook

CODE = """
def generate(model, tokens, n, *, temperature=1.0):
    for _ in range(n):
        logits = model(tokens[None], temperature=temperature)
        tokens = torch.cat((tokens, logits[0, -1].argmax()[None]))
    return tokens

def described(model, x):
    y = model(x)
    return y, str(y.dtype), y.requires_grad, tuple(y.shape), y.stride()

def writes_into_the_result(model, x):
    return model(x).mul_(2)

def learns(model, x):
    weight = torch.ones(2, requires_grad=True)
    (model(weight * x) * weight).sum().backward()
    return weight.grad
"""
MANY = 3_000
"""Calls in one call of the student's code."""


class Counting:
    """A language model over seven tokens that says the next number, and knows how it was called."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.temperatures: set[float] = set()

    def __call__(self, tokens: Tensor, *, temperature: float) -> Tensor:
        self.lengths.append(tokens.shape[1])
        self.temperatures.add(temperature)
        return nn.functional.one_hot((tokens + 1) % 7, 7) / temperature


def test_a_test_counts_the_calls_of_a_model_that_it_hands_over(in_both: Any) -> None:
    """With what each call was given, by place and by name, in the order of a loop in the student's code."""
    for names in in_both(CODE):
        model = Counting()
        tokens = names["generate"](model, torch.tensor([3, 4]), 6, temperature=0.5)
        assert tokens.tolist() == [3, 4, 5, 6, 0, 1, 2, 3]
        assert model.lengths == [2, 3, 4, 5, 6, 7] and model.temperatures == {0.5}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_a_tensor_of_the_tests_function_arrives_as_it_was(in_both: Any, dtype: torch.dtype) -> None:
    """Its values, dtype, shape and strides."""
    x = torch.arange(6).reshape(2, 3)
    described = [names["described"](lambda x: x.to(dtype).T, x) for names in in_both(CODE)]
    assert torch.equal(described[0][0], described[1][0]) and described[0][1:] == described[1][1:]
    assert described[1][1:] == (str(dtype), False, (3, 2), (1, 3))


def test_gradients_flow_through_a_function_of_the_test(in_both: Any) -> None:
    """As in one process: a plain function is called back, one that uses a layer of the test has it beside it."""
    for names in in_both(CODE):
        layer = nn.Linear(2, 2)
        function = lambda x, layer=layer: layer(x)  # noqa: E731
        function.__module__ = "__main__"  # as in a cell
        result, _, requires_grad, *_ = names["described"](function, torch.ones(1, 2))
        assert requires_grad and torch.equal(result, layer(torch.ones(1, 2)))
        assert torch.equal(names["writes_into_the_result"](function, torch.ones(1, 2)), 2 * layer(torch.ones(1, 2)))
        assert names["learns"](lambda x: 3 * x, torch.ones(2)).tolist() == [6, 6]


@pytest.mark.slow
def test_student_code_may_call_a_function_thousands_of_times() -> None:
    """In one test, for every student, also where the answer cache knows the outcome or the messages are many."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("walk", "### BEGIN SOLUTION\ndef walk(step, x):\n    while x < 5_000:\n        x = step(x)\n"
               "    return x\n### END SOLUTION"),
        hidden("walk-test-steps", "One step at a time.", f"""
calls = 0

def step(x):
    global calls
    calls += 1
    return x + 1

assert walk(step, torch.tensor({5_000 - MANY})) == 5_000 and calls == {MANY}, f'{{calls}} steps'
"""),
    )  # fmt: skip
    for _ in range(2):
        [result] = grade(source, source).results
        assert result.verdict is Verdict.PASSED, result.message
