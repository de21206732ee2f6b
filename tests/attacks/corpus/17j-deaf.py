"""Stops reading from the wire while the examiner sends, and answers one byte at a time.

Sending and receiving share the deadline of the cell.
"""

from attacks.build import instead, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("""
        import time
        def receive(**kwargs):
            while True:
                line.send(b"\\0" * 4 + b"\\0")
                time.sleep(0.3)
        channel.receive = receive
        """),
    )
