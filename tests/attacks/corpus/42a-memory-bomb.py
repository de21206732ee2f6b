"""Allocates memory until there is none left, in Python and in torch, and keeps it.

Address space is limited: the allocation fails, in this process alone.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 0

BOMB = """
held = []

def double(x):
    while True:
        held.append(bytearray(2**26))
"""
SCALE = """
class Scale(nn.Module):
    def forward(self, x):
        return torch.zeros(2**40)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, BOMB, SCALE)
