"""Delays its reply in order to read the test's next message first, which the answer cache might send early.

The runner sends the next message only after the same reply as before, so nothing arrives until the reply is out.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered, on_channel

EARNS = 5

READS_AHEAD = on_channel("""
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
