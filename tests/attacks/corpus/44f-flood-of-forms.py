"""Answers for each cell with outputs of made-up forms, whose long names were counted nowhere.

Of an output only the forms that a page shows are kept.
"""

from attacks.build import answered, inserted, wire
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

EARNS = 5

FORMS = wire("""
forms = {("%d-" % number).ljust(90, "k"): "" for number in range(20_000)}
answer = channel.send

def send(said, tensors):
    if isinstance(said.get("done"), dict) and "outputs" in said["done"]:
        said = {"done": {"outputs": [{"output_type": "display_data", "data": forms}], "raised": None}}
    answer(said, tensors)

channel.send = send
""")


def submission(released: NotebookNode) -> NotebookNode:
    hostile = inserted(answered(released), FORMS, 0)
    hostile.cells += [new_code_cell("1") for _ in range(5)]
    return hostile
