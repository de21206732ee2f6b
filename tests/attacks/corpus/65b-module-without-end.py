"""Builds modules that are hard to describe: of a million parts, part of themselves, with parameters that are none.

What is too large to be told is an error of the test that asked; what tells of itself for ever is ended.
"""

from attacks.build import answered
from nbformat import NotebookNode

EARNS = 0

LOOP = """
double = nn.ModuleList()
double.append(double)
"""
LARGE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.parts = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(100_000)])
        self._buffers["b"] = "no tensor"
        self._modules["forward"] = self

    def forward(self, x):
        return x * self.weight
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, LOOP, LARGE)
