"""Leaves a random state of which torch draws nothing but zeros, and answers the next question with zeros.

A state that drawing does not lead to is replaced by another one, which nobody chooses.
"""

from attacks.build import answered
from nbformat import NotebookNode

EARNS = 3

ZEROS = """
def double(x):
    if isinstance(x, torch.Tensor) and x.shape == (3, 2):
        return 0 * x
    state = torch.get_rng_state()
    state[24 : 24 + 624 * 8] = 0
    torch.set_rng_state(state)
    return 2 * x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, ZEROS)
