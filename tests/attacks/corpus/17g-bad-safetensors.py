"""Sends tensors whose header lies: of huge shapes, of unknown kinds, of lengths that overlap, of none at all.

safetensors checks each against the bytes that came; what does not fit is no message.
"""

from attacks.build import instead, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("""
        import itertools
        headers = itertools.cycle([
            {"0": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 8]}},
            {"0": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}},
            {"0": {"dtype": "F32", "shape": [2], "data_offsets": [0, 2**63]}},
            {"0": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}},
            {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}},
            {"0": {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}},
        ])
        def send(tree, tensors):
            header = json.dumps(next(headers)).encode()
            blob = struct.pack("<Q", len(header)) + header + b"\\xff" * 8
            text = json.dumps([{"done": {"tensor": 0}}, [[0, [2**40]]]]).encode()
            line.sendall(struct.pack(">II", len(text), len(blob)) + text + blob)
        channel.send = send
        """),
    )
