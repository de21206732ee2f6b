"""Answers with JSON a hundred thousand levels deep, then with a wide one of a million parts.

Depth and number are bounded where JSON becomes values.
"""

from attacks.build import instead, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("""
        import itertools
        values = ["[" * 100_000 + "]" * 100_000, "[" + "0," * 10**6 + "0]", "9" * 5000, "NaN"]
        texts = itertools.cycle([f'[{{"done": {value}}}, []]' for value in values])
        def send(tree, tensors):
            text = next(texts).encode()
            line.sendall(struct.pack(">II", len(text), 0) + text)
        channel.send = send
        """),
    )
