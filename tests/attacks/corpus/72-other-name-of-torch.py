"""Hands the work to forbidden operators under names that no one writes, kept in a partial before any test begins.

A tag is a word, and every function of torch, NumPy and SciPy with that word in its name is refused.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, RIGHT_SCALE, answered

EARNS = 5

SCALE = "from functools import partial\nwork = partial(getattr(torch.ops.aten, 'linear').default._op)\n" + (
    RIGHT_SCALE.replace("return x * self.weight", "return work(x, torch.diag(self.weight), None)")
)


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, RIGHT_DOUBLE, SCALE)
