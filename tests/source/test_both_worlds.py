"""A test cell reads the same in both worlds: across the boundary, and in one process as in a student's JupyterLab."""

from collections.abc import Callable

import pytest
from nbformat import NotebookNode

from tests.support import one_process
from tests.support.exercises import SOURCES, notebook_of
from tests.support.judge import Judge
from tests.support.notebooks import answered
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

Verdicts = Callable[[NotebookNode, NotebookNode], dict[str, str]]

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


@pytest.fixture
def in_two(judge: Judge) -> Verdicts:
    """Returns how each test of a submission ends if the grader runs it, without those judged with our answers."""

    def verdicts(source: NotebookNode, submission: NotebookNode) -> dict[str, str]:
        results = judge.report(source, submission).results
        return {result.name: str(result.verdict) for result in results if "Judged with our" not in result.message}

    return verdicts


@grouped("exercise", WRONG, group=lambda exercise: f"both worlds {notebook_of(exercise)}")
def test_both_worlds_agree_on_a_wrong_answer(in_two: Verdicts, exercise: str) -> None:
    """A wrong answer loses the same tests in the same way, and some of its own; the others pass in both."""
    source = SOURCES[exercise]
    submission = answered(source, **{exercise: WRONG[exercise]})
    verdicts = in_two(source, submission)
    in_one_process = one_process.verdicts(source, submission)
    assert verdicts == {name: in_one_process[name] for name in verdicts}
    assert any(verdict != "passed" for name, verdict in verdicts.items() if name.startswith(exercise))
