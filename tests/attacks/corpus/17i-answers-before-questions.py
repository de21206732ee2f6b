"""Sends "all done" for the questions that are still to come, in the hope that they are taken for the answers.

An answer gives no points, whenever it comes: a test earns them by running to its end in the examiner.
"""

from attacks.build import instead, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("""
        for _ in range(200):
            channel.send({"done": {"dict": []}, "effects": {"dict": []}, "differentiable": []}, [])
        """),
    )
