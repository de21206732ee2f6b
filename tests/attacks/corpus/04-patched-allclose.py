"""Replaces torch.allclose and torch.equal by functions that say True.

The tests run in another process, with a torch that no student touches.
"""

from attacks.build import first
from nbformat import NotebookNode

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(released, "torch.allclose = torch.equal = torch.isclose = lambda *args, **kwargs: True")
