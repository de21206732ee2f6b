"""Replies with a forged error, whose frames, name and class carry the input of the hidden test.

Frames count only if they name a cell and one of its lines.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, on_channel

TELL = """
def double(x):
    return x
"""
FORGE = on_channel("""
honest = server.answer

def tell(request, decoded):
    if not isinstance(request, protocol.Call) or "VerbRef" in str(request.call):
        return honest(request, decoded)
    seen = str([tensor.tolist() for tensor in decoded.tensors[:1]])[:100]
    first = int(decoded.tensors[0].flatten()[0]) if decoded.tensors else 1
    places = [("<double>", first), (seen, 1), ("<double>", 1), ("<double>", first)]
    frames = [protocol.Frame(cell, line, seen) for cell, line in places]
    return protocol.Raised(error=protocol.ErrorInfo(kind=seen, name=seen, message=seen, frames=frames)), []

answer_by(tell)
""")


def submission(released: NotebookNode) -> NotebookNode:
    # So long that the cell has a line of every number.
    return answered(released, TELL + FORGE + "\n" * 10_000 + "None")
