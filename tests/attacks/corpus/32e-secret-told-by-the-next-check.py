"""Keeps what hidden tests hand over and raises it when the check of the next exercise calls.

Checks that the student sees run in a run without hidden tests.
"""

from attacks.build import answered
from nbformat import NotebookNode

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
