"""Keeps the inputs of hidden tests and prints them in a later cell, as text, as a picture and as an error.

Outputs come from a pass without hidden tests.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_SCALE, answered, appended

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
