"""Turns tests into markdown, answers into raw cells, and the written answer into code.

Each cell gets the type that it has in the source; the text of an answer stays.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    kinds = {"double": new_raw_cell, "scale": new_raw_cell, "question": new_code_cell}
    for index, cell in enumerate(hostile.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name:
            hostile.cells[index] = kinds.get(name, new_markdown_cell)(cell.source, metadata=cell.metadata)
    return hostile
