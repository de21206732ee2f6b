"""Leaves a random state that has 624 numbers left after its last one, so that torch reads foreign memory.

The runner checks the counters of a state from student code before torch gets it.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 5

BEHIND = """
import struct

def double(x):
    state = torch.get_rng_state()
    state[8:12] = torch.tensor(list(struct.pack("<i", 624)), dtype=torch.uint8)
    state[16:24] = torch.tensor(list(struct.pack("<q", 624)), dtype=torch.uint8)
    torch.set_rng_state(state)
    return 2 * x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, BEHIND)
