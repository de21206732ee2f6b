"""Stops reading from the channel while the runner sends, and answers one byte at a time.

Sending and receiving share the deadline of the cell.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, on_channel

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        on_channel("""
        import time
        def receive(**kwargs):
            line.sendall(struct.pack(">II", 2**20, 0))
            while True:
                line.send(b"[")
                time.sleep(0.3)
        channel.receive = receive
        """),
    )
