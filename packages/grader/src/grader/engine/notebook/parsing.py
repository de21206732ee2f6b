"""Parses a submitted notebook at a bounded cost, and keeps the parts that grading needs.

bytes --bounded--> JSON --outputs left out--> a valid notebook, or the essence of an invalid one
"""

import re
from itertools import chain, islice
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError, parse_json

from grader.engine.notebook.cells import PICTURES, kept_tags, picture_address
from grader.errors import UnreadableFile

MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000
"""Characters in all cells of a notebook, and the number of cells: no notebook may take too long to render."""
MAX_VALUES = 100_000
"""Lists, objects and their members in a notebook, apart from its outputs."""
MAX_PICTURES = 1_000
"""Pasted pictures of a cell that are kept if the notebook has too many values or is not valid."""
FORMAT = 4
"""The format of notebooks since 2015."""

BYTES_OF = {b"{": 250, b"[": 90, b",": 45, b'"': 35}
"""Bytes of memory per character: an empty object, an empty list, a member of a list, half a string."""
MAX_MEMORY_MB = 150
ASTRAL = re.compile(rb"[\xf0-\xff]")
"""The first byte of a character that takes 4 bytes."""


def parsed(data: bytes) -> NotebookNode:
    """Return the notebook in the content of a file, without outputs.

    Raises:
        UnreadableFile: it is not a notebook, is in a format from before 2015, or costs too much.
    """
    try:
        _require_affordable(data)
        notebook = parse_json(data.decode("utf-8-sig"))
        if notebook["nbformat"] < FORMAT:
            raise UnreadableFile(
                f"is in notebook format {notebook['nbformat']}, and {FORMAT} is read",
                "ask the student to open and save it in JupyterLab",
            )
        _leave_out_outputs(notebook)
        if not _is_small(notebook) or not _is_valid(notebook := _rejoined(notebook)):
            notebook = _rejoined(_essence(notebook))
            _leave_out_outputs(notebook)
        if not _is_small(notebook) or not _is_valid(notebook):
            raise nbformat.ValidationError("its cells do not match the notebook format")
        characters = sum(len(cell.source) for cell in notebook.cells)
        if characters > MAX_CHARACTERS or len(notebook.cells) > MAX_CELLS:
            raise UnreadableFile(
                f"has {len(notebook.cells)} cells with {characters} characters, "
                f"and at most {MAX_CELLS} with {MAX_CHARACTERS} are read",
                "ask the student for what belongs to the assignment",
            )
        return notebook
    except UnreadableFile:
        raise
    except Exception as error:
        reason = "is not JSON" if isinstance(error, NotJSONError | UnicodeDecodeError) else "is not a valid notebook"
        raise UnreadableFile(f"{reason} ({type(error).__name__})") from None


def _require_affordable(data: bytes) -> None:
    """Refuse a text before it is parsed if parsing it may take more memory than MAX_MEMORY_MB."""
    # Each character of a text takes as much memory as the widest one; strings are copies of its parts.
    width = 1 if data.isascii() else 4 if ASTRAL.search(data) else 2
    cost = (width + 1) * len(data) + sum(data.count(character) * size for character, size in BYTES_OF.items())
    if cost > MAX_MEMORY_MB * 2**20:
        raise UnreadableFile(
            f"would take {cost / 2**20:.0f} MB of memory, and at most {MAX_MEMORY_MB} MB are given to a notebook",
            "ask for it without outputs",
        )


def _leave_out_outputs(notebook: dict[str, Any]) -> None:
    """Remove the outputs of cells and the state of widgets, which grading does not use."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    if isinstance(notebook.get("metadata"), dict):
        notebook["metadata"].pop("widgets", None)


def _is_small(notebook: dict[str, Any]) -> bool:
    count = 0
    level: list[Any] = [notebook]
    while level:
        members = [value.values() if isinstance(value, dict) else value for value in level]
        count += sum(map(len, members))
        if count > MAX_VALUES:
            return False
        level = [value for value in chain.from_iterable(members) if isinstance(value, dict | list)]
    return True


def _rejoined(notebook: dict[str, Any]) -> NotebookNode:
    """Return the notebook as nbformat's objects, with texts instead of lists of lines."""
    minor = notebook.get("nbformat_minor", 0)
    rejoined: NotebookNode = nbformat.versions[notebook["nbformat"]].to_notebook_json(notebook, minor=minor)
    return rejoined


def _is_valid(notebook: NotebookNode) -> bool:
    """Return whether a notebook matches its format.

    nbformat.validate would search for the best error message, which takes hours for a crafted file.
    """
    minor = notebook.get("nbformat_minor")
    if type(minor) is not int:
        return False
    # In a minor version that does not exist yet, nbformat would accept cells of any type with any content.
    minor = min(minor, nbformat.current_nbformat_minor)
    return not nbformat.validator.get_validator(FORMAT, minor).iter_errors(notebook)


def _essence(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a submission that grading needs: source texts, nbgrader's metadata and tags.

    Jupyter opens, and other editors write, invalid notebooks, for example with odd ids or incomplete outputs.
    """
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        metadata: dict[str, Any] = {}
        if "nbgrader" in cell.get("metadata", {}):
            metadata["nbgrader"] = cell["metadata"]["nbgrader"]
        metadata |= kept_tags(cell.get("metadata", {}))
        kept = {"id": f"cell-{number}", "cell_type": cell["cell_type"], "source": cell["source"], "metadata": metadata}
        if kept["cell_type"] == "code":
            kept |= {"outputs": [], "execution_count": None}
        elif isinstance(cell.get("attachments"), dict):
            kept["attachments"] = {
                name: forms
                for name, forms in islice(cell["attachments"].items(), MAX_PICTURES)
                if picture_address(forms) and set(forms) <= PICTURES
            }
        cells.append(kept)
    return {"nbformat": FORMAT, "nbformat_minor": 5, "metadata": {}, "cells": cells}
