"""Repairs a submission: instructors' cells come from the source notebook, and answers stay the student's.

    source:      A  t1  B  t2          (cells that have a grade_id, in order)
    submission:  A' x  t2' B' B'' y    (edited, moved, copied or lost; x and y are the student's own)
    repaired:    A' x  t1  B' t2  B'' y

Cells are found by grade_id. Test and read-only cells are replaced by the source's; answers keep their text. The
student's own cells stay after the cell that they followed.
"""

import copy
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, grade_id, kept_tags, picture_address, type_of
from grader.engine.notebook.not_run import NotRunCell, cells_not_run

ATTACHED = re.compile(r"\(attachment:((?:[^()]|\([^()]*\))*+)\)")
"""A link to a picture that was pasted into a cell, by its name, which may have parentheses."""
ANSWERS = (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)


@dataclass
class Repaired:
    """The notebook to grade, a sentence for each change that it needed, and the code that does not run in it."""

    notebook: NotebookNode
    changes: list[str]
    not_run: list[NotRunCell] = field(default_factory=list)


def repair(source: NotebookNode, submission: NotebookNode) -> Repaired:
    """Return the submission with the cells of the source in their places. Neither notebook is changed.

    Args:
        source: the instructor's notebook.
        submission: the student's.
    """
    source_cells = {name: cell for cell in source.cells if (name := grade_id(cell))}
    changes: list[str] = []
    student_cells: dict[str, NotebookNode] = {}
    following: dict[str, list[NotebookNode]] = {"": []}
    anchor = ""
    order = []
    for cell in submission.cells:
        name = grade_id(cell)
        if name in source_cells and name not in student_cells:
            student_cells[name], anchor = cell, name
            following.setdefault(anchor, [])
            order.append(name)
        elif name in source_cells:
            is_kept = _is_answer(source_cells[name])
            changes.append(f"{name}: a copy of this cell was {'kept as an ordinary cell' if is_kept else 'left out'}")
            if is_kept:
                following[anchor].append(_unmarked(cell))
        else:
            if name is not None:
                changes.append(f"{_printable(name)}: no cell has this name; it was kept as an ordinary cell")
            following[anchor].append(_unmarked(cell))
    if order != (expected := [name for name in source_cells if name in student_cells]):
        moved = next(name for name, right in zip(order, expected, strict=True) if name != right)
        changes.append(f"{moved}: cells were moved; they are back in their order")

    cells = following[""]
    for name, source_cell in source_cells.items():
        cells.append(_restored(name, source_cell, student_cells.get(name), changes))
        cells += following.get(name, [])
    notebook = copy.copy(source)
    notebook.cells = [_without_outputs(cell) for cell in cells]
    _make_ids_unique(notebook)
    return Repaired(notebook, changes, cells_not_run(source, submission, notebook))


def _is_answer(source_cell: NotebookNode) -> bool:
    return type_of(source_cell) in ANSWERS


def _restored(
    name: str, source_cell: NotebookNode, student_cell: NotebookNode | None, changes: list[str]
) -> NotebookNode:
    """Return the repaired cell, and add a sentence for each repair to `changes`."""
    cell = NotebookNode(source_cell)
    cell.metadata = copy.deepcopy(source_cell.metadata)
    if student_cell is None:
        changes.append(f"{name}: this cell was missing and is back")
        if _is_answer(source_cell):
            cell.source = ""
        return cell
    if student_cell.cell_type != source_cell.cell_type:
        changes.append(f"{name}: this cell was of type {student_cell.cell_type} and is {source_cell.cell_type} again")
    is_read_only_code = type_of(source_cell) is CellType.READ_ONLY and source_cell.cell_type == "code"
    if _is_answer(source_cell):
        cell.source = _with_pictures(student_cell)
    elif is_read_only_code and _lines(source_cell) != _lines(student_cell):
        changes.append(f"{name}: this read-only cell was edited; its original text is back")
    return cell


def _lines(cell: NotebookNode) -> list[str]:
    """Return the lines of a cell, independent of the line endings of the student's machine."""
    return cell.source.strip().splitlines()


def _with_pictures(cell: NotebookNode) -> str:
    """Return the text of a cell with the pictures that were pasted into it, and nothing else of the cell."""
    text = _writable(cell.source)
    attachments = cell.get("attachments")
    pictures = dict(attachments) if cell.cell_type == "markdown" and isinstance(attachments, dict) else {}

    def picture(link: re.Match) -> str:
        # Each picture only once: a thousand links to one picture would become a thousand pictures.
        address = picture_address(pictures.pop(link[1], None))
        return f"({address})" if address else link[0]

    return ATTACHED.sub(picture, text) if pictures else text


def _unmarked(cell: NotebookNode) -> NotebookNode:
    """Copy a student's own cell without nbgrader's metadata."""
    cell = _writable(cell)
    if cell.cell_type == "raw":
        # A page would show a raw cell as unsanitised HTML.
        cell.cell_type, cell.source = "markdown", f"<pre>{escape(cell.source)}</pre>"
    cell.metadata = NotebookNode(kept_tags(cell.metadata))
    return cell


def _without_outputs(cell: NotebookNode) -> NotebookNode:
    """Remove the outputs of the student's machine from a cell, and return it."""
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    return cell


def _writable(value: Any) -> Any:
    """Copy a value with a ? for each lone surrogate, which JSON may hold but a file cannot."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [_writable(part) for part in value]
    if isinstance(value, dict):
        return NotebookNode({_writable(key): _writable(part) for key, part in value.items()})
    return value


def _printable(name: str) -> str:
    """Make a student's name of a cell safe for a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])


def _make_ids_unique(notebook: NotebookNode) -> None:
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if cell.get("id") is None or cell.id in seen:
            cell.id = f"cell-{number}"
        seen.add(cell.id)
