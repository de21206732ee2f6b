"""Shows in what a student's code and a misconception must agree: numbers, types, gradients, writes, how a layer is
made, and the memory of measured calls.
"""

import pytest
from nbformat import NotebookNode

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


def causes(
    answer: str, known: list[Misconception] = KNOWN, source: NotebookNode = SOURCE, exercise: str = "mixed"
) -> list[str]:
    """Return the causes that the grader names for an answer, which must lose its points."""
    [result] = grade(source, with_answer(source, exercise, answer), misconceptions=known).results
    assert result.points == 0, answer
    return result.explanation.causes


@pytest.mark.slow
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


TILED = """
def doubled(x):
    return torch.cat([part + part for part in x.split(10)])
"""
MEASURED = notebooks.notebook(
    notebooks.helpers("imports", "import torch\nfrom grader_kernel.peak_memory import peak_memory"),
    notebooks.answer("doubled", f"### BEGIN SOLUTION{TILED}### END SOLUTION"),
    notebooks.hidden(
        "doubled-test-memory",
        "No table of all pairs.",
        "x = torch.arange(100.0)\nresult, peak = peak_memory(doubled, x)\n"
        "assert torch.equal(result, 2 * x), 'the values are not right'\n"
        "assert peak <= 3 * x.nbytes, 'too much memory'",
    ),
)
RIGHT = "torch.cat([part + part for part in x.split(10)])"
TABLE = Misconception("doubled", "makes a table", RIGHT, "(x[:, None] + x).diagonal()", "Leave the pairs out.")
SQUARES = Misconception("doubled", "squares", "part + part", "part * part", "Add.")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        # A measured call is replayed like any other, and its bytes do not count as long as values differ.
        ("return torch.cat([part.clone() ** 2 for part in x.split(5)])", ["squares"]),
        # The values are right, and the bytes are exactly those of the misconception.
        ("return torch.diagonal(x[:, None] + x)", ["makes a table"]),
        # The known mistake takes other bytes, so the grader does not accuse the student of it.
        *((f"waste = {waste}; return 2 * x", []) for waste in ("torch.ones(1_000)", "x[:, None] + x + 1")),
    ],
)
def test_the_memory_is_named_if_nothing_else_differs(body: str, named: list[str]) -> None:
    """Wrong values are named whatever memory they take, and another waste of memory has no name."""
    assert causes(f"def doubled(x):\n    {body}", [SQUARES, TABLE], MEASURED, "doubled") == named
