"""Leaves a random state from which torch draws nothing but zeros, and answers the next question with zeros.

The runner replaces a state that drawing cannot lead to by another one, which no one chooses.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

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
