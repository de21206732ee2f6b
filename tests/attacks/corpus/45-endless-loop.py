"""Loops for ever and swallows KeyboardInterrupt and every signal that can be caught.

The parent kills the process when its time is over.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5

LOOP = """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass

def double(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, LOOP, RIGHT_SCALE)
