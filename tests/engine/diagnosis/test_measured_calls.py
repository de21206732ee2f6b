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
    assert causes(f"def doubled(x):\n    {body}") == named
