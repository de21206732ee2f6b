"""Claims that a call has written into every tensor, by numbers that no tensor has, and has set every random state.

The examiner applies what fits; what does not costs the attacker's own test.
"""

from attacks.build import RIGHT_DOUBLE, WRONG_SCALE, answered, wire
from nbformat import NotebookNode

EARNS = 5

FORGED = wire("""
honest = service._call
def call(request, packed):
    answer, tensors = honest(request, packed)
    tensors += [torch.zeros(1), torch.zeros(5056, dtype=torch.uint8)]
    last = len(tensors) - 2
    effects = {
        "written": {"tuple": [[n, {"tensor": last}] for n in (0, -1, 10**6, "x")]},
        "random": {"tensor": last + 1}, "generators": [{"tensor": last + 1}] * 3,
        "states": {"dict": [[n, {"dict": [["weight", {"tensor": last}]]}] for n in range(9)]},
    }
    return {**answer, "effects": {"dict": list(map(list, effects.items()))}}, tensors
service._call = call
""")


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, RIGHT_DOUBLE, WRONG_SCALE + FORGED)
