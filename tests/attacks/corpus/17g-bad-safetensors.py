"""Sends tensors whose header lies: huge shapes, unknown types, offsets out of range, no data.

safetensors checks each header against the bytes that arrived; a header that does not fit is no message.
"""

from nbformat import NotebookNode

from tests.attacks.build import asking, instead, on_channel
from tests.attacks.replies import HEADERS, TRUTH_VALUES, with_header

EARNS = 5

LAYOUTS = [[[0, [2**40]]], [[0, [-1]]], [[0, [1, 1]]], [[5, [1]]]]
"""Strides for two honest numbers: too far apart, negative, of another dimension, of no tensor."""


def submission(released: NotebookNode) -> NotebookNode:
    forged = on_channel(f"""
    header = json.dumps({{"0": {{"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}}}).encode()
    tensors = struct.pack("<Q", len(header)) + header + bytes(8)
    reply = {{"type": "Returned", "value": {{"tensor": 0}}}}
    replies = {[with_header(header) for header in (*HEADERS.values(), TRUTH_VALUES)]!r}
    replies += [raw(json.dumps([reply, layouts]).encode(), tensors) for layouts in {LAYOUTS!r}]
    answer_by(lambda request, decoded: replies[number_of(request)])
    """)
    return asking(instead(released, forged), len(HEADERS) + 1 + len(LAYOUTS))
