"""Keeps the inputs of hidden tests and raises them when the check of the next exercise calls.

Visible checks run in a pass without hidden tests.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

KEEP = """
seen = []

def double(x):
    seen.append(x.tolist() if isinstance(x, torch.Tensor) else x)
    return 2 * x
"""
TELL = """
def Scale(d):
    raise ValueError(seen)
"""
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, KEEP, TELL)
