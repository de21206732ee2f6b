"""Shows in what a student's code and a misconception must agree: numbers, types, gradients, writes, and how a layer is
made.
"""

import pytest

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.grading import grade
from tests.support import notebooks
from tests.support.notebooks import with_answer

LAYER = """
class Mixed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        inner = self.first(x).tanh()
        return self.second(inner), len(x)
"""
TESTS = """
layer, x = Mixed(3).double(), torch.rand(2, 3, dtype=torch.float64)
old = x.clone()
out, n = layer(x)
assert torch.autograd.gradcheck(lambda x: layer(x)[0], (x.requires_grad_(),)), 'the gradient is wrong'
assert out.dtype == torch.float64 and type(n) is int, 'a type is wrong'
assert torch.equal(x, old), 'the words were changed'
assert layer.seen > 0, 'the calls are not counted'
assert layer.first.weight is not layer.second.weight, 'one layer does the work of two'
assert layer.first.bias.abs().sum() > 0 and layer.first.bias.requires_grad, 'the bias is not free'
"""
SOURCE = notebooks.notebook(
    notebooks.helpers("imports", "import torch\nfrom torch import nn"),
    notebooks.answer("mixed", f"### BEGIN SOLUTION{LAYER}### END SOLUTION"),
    notebooks.hidden("mixed-test-all", "All is as the text says.", TESTS),
)
INNER, RETURN = "inner = self.first(x).tanh()", "return self.second(inner), len(x)"
SECOND = "self.second = nn.Linear(width, width)"
KNOWN = [
    Misconception("mixed", name, find, replace, f"Look at it: {name}.")
    for name, find, replace in (
        ("cuts the gradient", INNER, "inner = self.first(x).detach().tanh()"),
        ("gives half of the gradient", INNER, "inner = (self.first(x) + self.first(x).detach()).div(2).tanh()"),
        ("computes in float32", RETURN, "return self.second(inner).float(), len(x)"),
        ("counts in fractions", RETURN, "return self.second(inner), float(len(x))"),
        ("writes into x", INNER, "inner = self.first(x).tanh()\nx.data.zero_()"),
        ("does not count", "self.seen += 1", "pass"),
        ("shares a layer", SECOND, "self.second = self.first"),
        ("starts the bias at zero", SECOND, f"{SECOND}\nnn.init.zeros_(self.first.bias)"),
        ("freezes the bias", SECOND, f"{SECOND}\nself.first.bias.requires_grad_(False)"),
    )
]
NAMES = [each.name for each in KNOWN]


def causes(answer: str, known: list[Misconception] = KNOWN) -> list[str]:
    """Return the causes that the grader names for an answer, which must lose its points."""
    [result] = grade(SOURCE, with_answer(SOURCE, "mixed", answer), misconceptions=known).results
    assert result.points == 0, answer
    return result.explanation.causes


@pytest.mark.parametrize("misconception", KNOWN, ids=NAMES)
def test_a_difference_of_any_kind_separates_misconceptions(misconception: Misconception) -> None:
    """Each is named where it is known; where it is not, none of the others is taken for it.

    Layers may be made in any order, which changes random numbers and the order of gradients, but not what layers do.
    """
    answer = misconception.apply(LAYER).replace("inner", "hidden")
    assert causes(answer) == [misconception.name]
    assert causes(answer, [other for other in KNOWN if other is not misconception]) == []
    if misconception in KNOWN[:6]:
        first = "self.first = nn.Linear(width, width)"
        turned = LAYER.replace(first, "HERE").replace(SECOND, first).replace("HERE", SECOND)
        assert turned != LAYER and causes(misconception.apply(turned)) == [misconception.name]


def test_other_draws_are_no_misconception() -> None:
    """Where layers are drawn in another way and something unknown is wrong, nothing is named."""
    unknown = LAYER.replace("self.seen += 1", "self.seen -= 1").replace(SECOND, f"torch.rand(())\n        {SECOND}")
    assert causes(unknown) == []
