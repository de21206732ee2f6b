"""A test cell reads the same in both worlds: across the boundary, and in one process as in a student's JupyterLab."""

from pathlib import Path

import notebooks
import one_process
import pytest

from course.grading.grade import grade
from course.grading.repair import read

SOURCES = sorted((Path(__file__).resolve().parents[2] / "source").glob("*/*.ipynb"))

WRONG = {
    "split-heads": "def split_heads(x, n_heads):\n    B, L, D = x.shape\n    return x.view(B, n_heads, L, -1)",
    "combine-heads": "def combine_heads(x):\n    return x.sum(1)",
    "add-mask": "def add_mask(x, mask=None):\n    if mask is not None:\n        x[mask != 0] = -math.inf\n    return x",
    "self-attention": "class SelfAttention(nn.Module):\n    def __init__(self, d_model, n_heads=1):\n"
    "        super().__init__()\n        self.out = nn.Linear(d_model, d_model)\n"
    "    def forward(self, x, mask=None):\n        return self.out(x)",
    "vanilla-attention": "class VanillaAttention(nn.Module):\n    def forward(self, q, k, v, mask=None):\n"
    "        weights = (q @ k.transpose(-2, -1)).softmax(-2)\n        return weights @ v, weights",
    "index-lookup": "class IndexLookup(nn.Module):\n    def __init__(self, n_symbols, length, width=16):\n"
    "        super().__init__()\n        self.table = nn.Embedding(n_symbols, n_symbols)\n"
    "    def forward(self, symbols, index):\n        n = symbols.shape[1]\n"
    "        return self.table(symbols).mean(1), torch.full(symbols.shape, 1 / n)",
}


def verdicts(source, submission):
    return {result.name: str(result.verdict) for result in grade(source, submission).results}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_both_worlds_agree_on_the_reference(path):
    """Every test passes for the reference solution, in one process and in two."""
    source = read(path, 20)
    found = verdicts(source, source)
    assert set(found.values()) == {"passed"}
    assert found == one_process.verdicts(source, source)


@pytest.mark.parametrize("exercise", WRONG)
def test_both_worlds_agree_on_a_wrong_answer(exercise):
    """A wrong answer loses the same tests in the same way, and some of its own."""
    source = next(source for path in SOURCES if exercise in {*_names(source := read(path, 20))})
    submission = notebooks.answered(source, **{exercise: WRONG[exercise]})
    found = verdicts(source, submission)
    assert found == one_process.verdicts(source, submission)
    assert any(verdict != "passed" for name, verdict in found.items() if name.startswith(exercise))


def _names(source):
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in source.cells]
