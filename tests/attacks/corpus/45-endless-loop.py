"""Loops for ever and swallows KeyboardInterrupt and every signal that asks.

Nobody asks: the process is killed when its time is over.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

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
