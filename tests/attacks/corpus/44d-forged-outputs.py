"""Replies to every cell with megabytes of output that were never printed, and with endless errors.

The runner keeps no more than a notebook may show, and refuses an error that is longer than the protocol allows.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended, on_channel

FORGE = on_channel("""
long = "x" * 6_000_000
outputs = [protocol.Text(text=long), protocol.Display(data={"text/html": long})]
frames = [protocol.Frame("<x>", 1, "l" * protocol.MAX_LINE)] * protocol.MAX_FRAMES
error = protocol.ErrorInfo(kind="ValueError", name="n" * protocol.MAX_LINE, message="m" * 2_000, frames=frames)
endless = {"kind": "ValueError", "name": "n" * 10**6, "message": "m" * 10**6, "frames": [["<x>", 1, "l" * 10**5]] * 9}

def flood(request, decoded):
    if getattr(request, "source", "") == "pass":
        return protocol.CellDone(outputs=outputs, error=error), []
    return odd({"type": "CellDone", "outputs": [{"type": "Text", "text": long}], "error": endless, "x": 1})

answer_by(flood)
""")


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released, FORGE)
    for _ in range(5):
        hostile = appended(appended(hostile, "pass"), "1")
    return hostile
