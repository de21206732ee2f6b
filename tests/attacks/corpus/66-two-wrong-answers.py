"""Gives one wrong answer before all cells have run and another afterwards: each passes what the other fails.

The verdict of an exercise comes from one world: if one of its hidden tests runs again, all do, and that run counts.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 3

DOUBLE = """
def double(x):
    if not torch.is_tensor(x) or x.tolist() == [1.0, 2.0]:
        return 2 * x
    if hasattr(torch, "later"):
        return 2 * x.detach()
    return 2 * x - 2 * x.detach()
"""


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released, DOUBLE), "torch.later = True")
