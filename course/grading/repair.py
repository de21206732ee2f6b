"""A submission put right from the source: what is ours comes from us, what is the student's stays the student's.

    source:      A  t1  B  t2          (cells that have a grade_id, in their order)
    submission:  A' x  t2' B' B'' y    (edited, moved, copied, lost; x and y are the student's own)
    repaired:    A' x  t1  B' t2  B'' y

Cells are found by grade_id. Test and read-only cells are replaced by ours, answers keep their text. Cells of the
student's own stay behind the cell they stood behind.
"""

import copy
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError

from course.grading.handed_in import Unreadable, contents
from course.grading.notebook import EXPERIMENT, Kind, grade_id, kind
from course.grading.sanitize import as_it_is

MAX_WRITTEN, MAX_CELLS = 1_000_000, 2_000
"""Characters in the cells of a notebook, and cells: what is rendered for a student must not hold up a class."""

FORMAT = 4
"""Of notebooks, since 2015."""

PICTURES = {"image/png", "image/jpeg"}
ATTACHED = re.compile(r"\(attachment:((?:[^()]|\([^()]*\))*+)\)")
"""A link to what was pasted into a cell, by its name, which may have parentheses."""

STUDENTS = (Kind.ANSWER, Kind.WRITTEN)


@dataclass
class Repaired:
    """The notebook to grade and, in words, what had to be put right."""

    notebook: NotebookNode
    repairs: list[str]


def read(path: Path, max_mb: int) -> NotebookNode:
    """The notebook in `path`; raises Unreadable where there is none, at most `max_mb` mebibytes large."""
    try:
        notebook = nbformat.reader.reads(contents(path, max_mb).decode("utf-8-sig"))
        if notebook["nbformat"] < FORMAT:
            raise Unreadable(
                f"{path.name} is in notebook format {notebook['nbformat']}, and {FORMAT} is read",
                "ask the student to open and save it in JupyterLab",
            )
        if not _is_valid(notebook):
            notebook = _essence(notebook)
            if not _is_valid(notebook):
                raise nbformat.ValidationError("its cells are not what the format asks for")
        written = sum(len(cell.source) for cell in notebook.cells)
        if written > MAX_WRITTEN or len(notebook.cells) > MAX_CELLS:
            raise Unreadable(
                f"{path.name} has {len(notebook.cells)} cells with {written} characters, "
                f"and {MAX_CELLS} with {MAX_WRITTEN} are read",
                "ask the student for what belongs to the assignment",
            )
        return notebook
    except Unreadable:
        raise
    except Exception as error:
        reason = "is not JSON" if isinstance(error, NotJSONError | UnicodeDecodeError) else "is no valid notebook"
        raise Unreadable(f"{path.name} {reason} ({type(error).__name__})") from None


def _is_valid(notebook: NotebookNode) -> bool:
    """Whether a notebook is what its format asks for.

    nbformat.validate looks for the best words where it is not, which takes hours for a file that is made for it.
    """
    minor = notebook.get("nbformat_minor")
    if type(minor) is not int:
        return False
    # Of a minor that is still to come nbformat would let pass cells of any kind, with anything in them.
    known = min(minor, nbformat.current_nbformat_minor)
    return not nbformat.validator.get_validator(FORMAT, known).iter_errors(notebook)


def _essence(notebook: NotebookNode) -> NotebookNode:
    """What grading wants of a submission: texts, marks, tags.

    Jupyter opens what the schema of notebooks forbids, and other editors write it: ids of their own, half an output.
    """
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        metadata = {"nbgrader": cell["metadata"]["nbgrader"]} if "nbgrader" in cell.get("metadata", {}) else {}
        metadata |= _tags(cell.get("metadata", {}))
        kept = {"id": f"cell-{number}", "cell_type": cell["cell_type"], "source": cell["source"], "metadata": metadata}
        if kept["cell_type"] == "code":
            kept |= {"outputs": [], "execution_count": None}
        elif isinstance(cell.get("attachments"), dict):
            kept["attachments"] = {
                name: forms for name, forms in cell["attachments"].items() if _address(forms) and set(forms) <= PICTURES
            }
        cells.append(kept)
    return nbformat.from_dict({"nbformat": FORMAT, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def repair(source: NotebookNode, submission: NotebookNode) -> Repaired:
    """`submission` with the cells of `source` where they belong. Neither is changed."""
    ours = {name: cell for cell in source.cells if (name := grade_id(cell))}
    repairs: list[str] = []
    theirs: dict[str, NotebookNode] = {}
    behind: dict[str, list[NotebookNode]] = {"": []}
    anchor = ""
    order = []
    for cell in submission.cells:
        name = grade_id(cell)
        if name in ours and name not in theirs:
            theirs[name], anchor = cell, name
            behind.setdefault(anchor, [])
            order.append(name)
        elif name in ours:
            kept = _is_students(ours[name])
            repairs.append(f"{name}: a copy of this cell was {'kept as an ordinary cell' if kept else 'left out'}")
            if kept:
                behind[anchor].append(_unmarked(cell))
        else:
            if name is not None:
                repairs.append(f"{_printable(name)}: no cell has this name; it was kept as an ordinary cell")
            behind[anchor].append(_unmarked(cell))
    if order != (expected := [name for name in ours if name in theirs]):
        moved = next(name for name, right in zip(order, expected, strict=True) if name != right)
        repairs.append(f"{moved}: cells were moved; they are back in their order")

    cells = behind[""]
    for name, our in ours.items():
        cells.append(_restored(name, our, theirs.get(name), repairs))
        cells += behind.get(name, [])
    notebook = copy.copy(source)
    notebook.cells = [_clean(cell) for cell in cells]
    _make_ids_unique(notebook)
    return Repaired(notebook, repairs)


def _is_students(our: NotebookNode) -> bool:
    return kind(our) in STUDENTS


def _restored(name: str, our: NotebookNode, their: NotebookNode | None, repairs: list[str]) -> NotebookNode:
    cell = NotebookNode(our)
    cell.metadata = copy.deepcopy(our.metadata)
    if their is None:
        repairs.append(f"{name}: this cell was missing and is back")
        if _is_students(our):
            cell.source = ""
        return cell
    if their.cell_type != our.cell_type:
        repairs.append(f"{name}: this cell was of type {their.cell_type} and is {our.cell_type} again")
    if _is_students(our):
        cell.source = _with_pictures(their)
    elif kind(our) is Kind.READ_ONLY and our.cell_type == "code" and _lines(our) != _lines(their):
        repairs.append(f"{name}: this cell is ours; it reads again as it was handed out")
    return cell


def _lines(cell: NotebookNode) -> list[str]:
    """What a cell says, whatever ends its lines on the student's machine."""
    return cell.source.strip().splitlines()


def _with_pictures(cell: NotebookNode) -> str:
    """The text of a cell, with the pictures that were pasted into it: nothing else of the cell is kept."""
    text = _writable(cell.source)
    attachments = cell.get("attachments")
    pictures = dict(attachments) if cell.cell_type == "markdown" and isinstance(attachments, dict) else {}

    def picture(link: re.Match) -> str:
        # Each once: a thousand links to one picture would be a thousand pictures.
        address = _address(pictures.pop(link[1], None))
        return f"({address})" if address else link[0]

    return ATTACHED.sub(picture, text) if pictures else text


def _address(forms: Any) -> str | None:
    """A pasted picture as the address of an image that holds its data; None for what is no picture."""
    for form in PICTURES & set(forms if isinstance(forms, dict) else ()):
        if isinstance(forms[form], str):
            return f"data:{form};base64,{''.join(forms[form].split())}"
    return None


def _unmarked(cell: NotebookNode) -> NotebookNode:
    cell = _writable(cell)
    if cell.cell_type == "raw":
        # On a page a raw cell is HTML that nobody has cleaned; what is shown of it is its text.
        cell.cell_type, cell.source = "markdown", as_it_is(cell.source)
    cell.metadata = NotebookNode(_tags(cell.metadata))
    return cell


def _tags(metadata: dict[str, Any]) -> dict[str, list[str]]:
    """The one tag that says something in a cell of the student's own: on a page every tag is a class of the cell."""
    tags = metadata.get("tags")
    return {"tags": [EXPERIMENT]} if isinstance(tags, list) and EXPERIMENT in tags else {}


def _clean(cell: NotebookNode) -> NotebookNode:
    """Without outputs of the student's machine."""
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    return cell


def _writable(value: Any) -> Any:
    """A copy of `value` with a ? for each half of a surrogate pair, which JSON may hold and no file."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [_writable(part) for part in value]
    if isinstance(value, dict):
        return NotebookNode({_writable(key): _writable(part) for key, part in value.items()})
    return value


def _printable(name: str) -> str:
    """A student's name for a cell, as it can stand in a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])


def _make_ids_unique(notebook: NotebookNode) -> None:
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if cell.get("id") is None or cell.id in seen:
            cell.id = f"cell-{number}"
        seen.add(cell.id)
