"""Sends replies to questions that are still to come, in the hope that the runner takes them for answers.

A reply gives no points, whenever it arrives: a test earns them by running to its end in the runner.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, on_channel

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        on_channel("""
        channel.send(protocol.CellDone(), [])
        for _ in range(200):
            channel.send(protocol.Returned(value={"dict": []}, effects=protocol.Effects()), [])
        """),
    )
