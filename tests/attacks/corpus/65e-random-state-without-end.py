"""Leaves a random state that has 624 numbers left behind its last one: torch would read memory that is not its own.

Where a state comes from student code, its counters are checked before torch is given it.
"""

from attacks.build import answered
from nbformat import NotebookNode

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
