"""A misconception is named by what measured calls return, and by their memory only if nothing else differs."""

import pytest

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.grading import grade
from tests.support import notebooks
from tests.support.notebooks import with_answer

TILED = """
def doubled(x):
    return torch.cat([part + part for part in x.split(10)])
"""
SOURCE = notebooks.notebook(
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


def causes(answer: str) -> list[str]:
    """Return the causes that the grader names for an answer, which must lose its points."""
    [result] = grade(SOURCE, with_answer(SOURCE, "doubled", answer), misconceptions=[SQUARES, TABLE]).results
    assert result.points == 0
    return result.explanation.causes


def test_wrong_values_are_named_whatever_memory_they_take() -> None:
    """A measured call is replayed like any other, and its bytes do not count as long as values differ."""
    copied = "def doubled(x):\n    parts = [part.clone() ** 2 for part in x.split(5)]\n    return torch.cat(parts)"
    assert causes(copied) == ["squares"]


def test_the_memory_is_named_if_nothing_else_differs() -> None:
    """The values are right, and the bytes are exactly those of the misconception."""
    assert causes("def doubled(words):\n    return torch.diagonal(words[:, None] + words)") == ["makes a table"]


@pytest.mark.parametrize("waste", ["torch.ones(1_000)", "x[:, None] + x + 1"])
def test_another_waste_of_memory_has_no_name(waste: str) -> None:
    """The known mistake takes other bytes, so the grader does not accuse the student of it."""
    assert causes(f"def doubled(x):\n    waste = {waste}\n    return 2 * x") == []
