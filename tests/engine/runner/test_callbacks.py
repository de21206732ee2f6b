"""A test hands student code a function of its own, for example a model that counts its calls, and sees each call."""

from typing import Any

import pytest
import torch

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.support.both_worlds import assert_same
from tests.support.notebooks import answer, helpers, hidden, notebook

CODE = """
def generate(model, tokens, n, *, temperature=1.0):
    for _ in range(n):
        logits = model(tokens[None], temperature=temperature)
        tokens = torch.cat((tokens, logits[0, -1].argmax()[None]))
    return tokens

def learns(model, x):
    weight = torch.ones(2, requires_grad=True)
    (model(weight * x) * weight).sum().backward()
    return weight.grad
"""
USES = {
    "calls are counted": """
        lengths = []
        class Counting:
            def __call__(self, tokens, *, temperature):
                lengths.append((tokens.shape[1], temperature))
                return nn.functional.one_hot((tokens + 1) % 7, 7) / temperature
        found = generate(Counting(), torch.tensor([3, 4]), 6, temperature=0.5)
    """,
    "gradients flow": """
        layer = nn.Linear(2, 2)
        function = lambda x, layer=layer: layer(x)
        made, written = (get(f"x[0](x[1]){more}", function, torch.ones(1, 2)) for more in ("", ".mul_(2)"))
        learnt = learns(lambda x: 3 * x, torch.ones(2))
        made, written, requires_grad = made.tolist(), written.tolist(), (made.requires_grad, written.requires_grad)
    """,
} | {
    f"results in {dtype}": f"""
        x, turned = torch.arange(6).reshape(2, 3), lambda x: x.to({dtype}).T
        made = get("(lambda y: (y, str(y.dtype), y.requires_grad, y.stride()))(x[0](x[1]))", turned, x)
    """
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)
}  # fmt: skip
MANY = 3_000
"""Calls in one call of the student's code."""


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_student_code_calls_a_function_of_the_test_as_in_one_process(student: Any, test: str) -> None:
    """In order, with what each call was given, by place and by name; results arrive as they were, with gradients."""
    assert_same(student, CODE, test)


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
