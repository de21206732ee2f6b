"""Keeps what hidden tests hand over and prints it in a later cell, as text, as a picture and as an error.

Outputs are those of a run without hidden tests.
"""

from attacks.build import WRONG_SCALE, answered, appended
from nbformat import NotebookNode

KEEP = """
seen = []

def double(x):
    seen.append(x.tolist() if isinstance(x, torch.Tensor) else x)
    return 2 * x
"""
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    tell = "print(seen)\ndisplay(seen)\nraise ValueError(seen)"
    return appended(answered(released, KEEP, WRONG_SCALE + tell), tell)
