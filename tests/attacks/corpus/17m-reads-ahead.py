"""Waits before it answers, to see what a test says next: what is remembered of honest students might come early.

The next words come after the same answer only, so nothing comes until it has answered, and then it has answered.
"""

from attacks.build import RIGHT_SCALE, answered, wire
from nbformat import NotebookNode

EARNS = 5

READS_AHEAD = wire("""
import socket, time

def double(x):
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        try:
            if line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return 2 * x
        except BlockingIOError:
            time.sleep(0.01)
    return 0 * x
""")


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, READS_AHEAD, RIGHT_SCALE)
