"""Takes memory until there is none, in Python and in torch, and holds on to it.

Address space is limited: the allocation fails, in this process alone.
"""

from attacks.build import answered
from nbformat import NotebookNode

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
