"""Replaces torch.allclose and torch.equal by functions that return True.

The tests run in another process, whose torch no student code touches.
"""

from nbformat import NotebookNode

from tests.attacks.build import first

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(released, "torch.allclose = torch.equal = torch.isclose = lambda *args, **kwargs: True")
