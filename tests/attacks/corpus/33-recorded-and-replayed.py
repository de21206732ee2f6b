"""Records the inputs of tests wherever it can, crashes, and reads the record in the next process.

A fresh sandbox has a fresh folder, and no other place can be written.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_SCALE, answered, appended

EARNS = 3  # for the tests before the crash

RECORD = """
import os

places = [f"{folder}/record" for folder in (".", "..", "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"))]

def double(x):
    if isinstance(x, torch.Tensor) and x.requires_grad:
        for place in places:
            try:
                open(place, "w").write(str(x.tolist()))
            except OSError:
                pass
        os._exit(0)
    return 2 * x
"""
REPLAY = """
import os
for folder in (".", "..", "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~")):
    place = os.path.join(folder, "record")
    if os.path.exists(place):
        print("REACHED", place)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released, RECORD, WRONG_SCALE + REPLAY), REPLAY)
