"""Replies to each cell with outputs of invented MIME types, whose long names were not counted.

The runner keeps only the MIME types that a page shows.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tests.attacks.build import answered, inserted, on_channel

EARNS = 5

FORMS = on_channel("""
forms = {("%d-" % number).ljust(90, "k"): "" for number in range(20_000)}
honest = server.answer

def flood(request, decoded):
    reply, tensors = honest(request, decoded)
    if isinstance(reply, protocol.CellDone):
        reply.outputs = [protocol.Display(data=forms)]
    return reply, tensors

answer_by(flood)
""")


def submission(released: NotebookNode) -> NotebookNode:
    hostile = inserted(answered(released), FORMS, 0)
    hostile.cells += [new_code_cell("1") for _ in range(5)]
    return hostile
