"""Answers with an error of its own making, whose frames, name and kind carry what the hidden test handed over.

Frames count only where they name a cell and a line of it.
"""

from attacks.build import answered, wire
from nbformat import NotebookNode

TELL = """
def double(x):
    return x
"""
FORGE = wire("""
def call(request, packed):
    said = str([tensor.tolist() for tensor in packed.tensors[:1]])
    frames = [["<double>", said, said], [said, 1, said], ["<double>", 1, said]]
    return {"raised": {"kind": said, "name": said, "message": said, "frames": frames}}, []
service._call = call
""")


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL + FORGE)
