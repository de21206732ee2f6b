"""Builds modules that are hard to describe: of countless parts, part of themselves, with false parameters.

A module that is too large to describe is an error of the test that asked for it.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

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
