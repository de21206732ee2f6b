"""Parses a submitted notebook at a bounded cost, and keeps the parts that grading needs.

bytes --bounded--> JSON --outputs left out--> a valid notebook, or the essence of an invalid one
"""

import codecs
import json
import re
from itertools import chain, islice
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.engine.notebook.cells import PICTURES, kept_tags, picture_address
from grader.errors import UnreadableFile

MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000
"""Characters in all cells of a notebook, and the number of cells: no notebook may take too long to render."""
MAX_VALUES = 100_000
"""Lists, objects and their members in a notebook, apart from its outputs."""
MAX_PICTURES = 1_000
"""Pasted pictures of a cell that are kept if the notebook has too many values or is not valid."""
MAX_HEADING = 6
"""The smallest heading in markdown."""
FORMAT = 4
"""The format of notebooks since 2015."""

BYTES_OF = {b"{": 250, b"[": 90, b",": 45, b'"': 35}
"""Bytes of memory per character: an empty object, an empty list, a member of a list, half a string."""
MAX_MEMORY_MB = 150
ASTRAL = re.compile(rb"[\xf0-\xff]")
"""The first byte of a character that takes 4 bytes."""

BEGINNING = 1_000
"""Bytes at the beginning of a file in which its kind shows."""

PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
}
"""Archives, by their first bytes."""
PDF = b"%PDF"
MARKUP = re.compile(rb"\s*<(?:!doctype|!--|html|head|body|script|\?xml)", re.IGNORECASE)
CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
"""A line with which git marks a version of a conflict."""
PROGRAM = re.compile(
    rb"^(?:#!|# -\*-|# %%|# \+|# In ?\[|import [a-z]|from [\w.]+ import |def \w+\(|class \w+[:(]|@\w|\w+ = )",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of a program in Python, or a mark of a cell in it."""


def parsed(data: bytes) -> NotebookNode:
    """Return the notebook in the content of a file, without outputs.

    Any list of cells is read, even if Jupyter itself would refuse one of them.

    Raises:
        UnreadableFile: it is not a notebook, is in another format, or costs too much.
    """
    data = _as_utf8(data)
    _require_affordable(data)
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _not_json(data, error) from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    version = notebook.get("nbformat") if isinstance(notebook, dict) else None
    if type(version) is int and version != FORMAT:
        raise _other_format(version)
    if not isinstance(cells, list):
        raise UnreadableFile(
            "is not a notebook, because it has no list of cells",
            "ask the student for the notebook itself",
            "take the file that JupyterLab saved",
        )
    _require_short(cells)
    if (whole := _whole(notebook)) is not None:
        return whole
    return _node(_essence(cells))


def _as_utf8(data: bytes) -> bytes:
    """Return a text in UTF-8 without a byte order mark; some programs write one, or UTF-16."""
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8"):
        return data.removeprefix(codecs.BOM_UTF8)
    # The file may break off inside a character.
    size = 4 if "32" in encoding else 2
    try:
        return data[: len(data) // size * size].decode(encoding).encode()
    except UnicodeError as error:
        raise _not_json(data, error) from None


def _require_affordable(data: bytes) -> None:
    """Refuse a text before it is parsed if parsing it may take more memory than MAX_MEMORY_MB."""
    # Each character of a text takes as much memory as the widest one; strings are copies of its parts.
    width = 1 if data.isascii() else 4 if ASTRAL.search(data) else 2
    cost = (width + 1) * len(data) + sum(data.count(character) * size for character, size in BYTES_OF.items())
    if cost > MAX_MEMORY_MB * 2**20:
        raise UnreadableFile(
            f"would take {cost / 2**20:.0f} MB of memory, and at most {MAX_MEMORY_MB} MB are given to a notebook",
            "ask for it without outputs",
            "clear its outputs, and save it",
        )


def _not_json(data: bytes, error: Exception) -> UnreadableFile:
    """Return what a file is that could not be read as JSON, and what to do about it.

    Args:
        data: the content of the file.
        error: the error of the JSON reader.
    """
    start = data[:BEGINNING]
    if not data.strip():
        return _file("is empty", "save it once more in JupyterLab")
    for magic, kind in PACKED.items():
        if start.startswith(magic):
            return _file(f"is {kind}, not a notebook", "take the notebook out of it")
    if start.startswith(PDF):
        return _file("is a PDF, not a notebook", "take the notebook (.ipynb) itself")
    if MARKUP.match(start):
        return _file(
            "is a web page (HTML), perhaps a login page, and not a notebook",
            "download the notebook itself",
        )
    if CONFLICT.search(data):
        return _file(
            "holds marks of a git conflict (<<<<<<<, >>>>>>>)", "keep one version of each part, and delete the marks"
        )
    if isinstance(error, UnicodeDecodeError):
        return _file("is not text, so it is not a notebook", "save it once more in JupyterLab")
    if isinstance(error, RecursionError):
        return _file("is not a notebook, because its lists are nested too deeply", "save it once more in JupyterLab")
    if not start.lstrip().startswith((b"{", b"[")):
        if PROGRAM.search(start):
            return _file("is a program in Python, not a notebook", "take the notebook (.ipynb) itself")
        return _file("is not JSON, so it is not a notebook", "take the file that JupyterLab saved")
    if not isinstance(error, json.JSONDecodeError):
        return _file("is not JSON, because it holds a number without an end", "save it once more in JupyterLab")
    number = error.doc.count('"cell_type"', 0, error.pos)
    place = f" near cell {number} (line {error.lineno})" if number else f" (line {error.lineno})"
    # A text without an end is reported at its beginning.
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
        return _file(
            f"is not JSON, because it breaks off{place}", "save it once more in JupyterLab, and copy the whole file"
        )
    return _file(f"is not JSON, because it has a mistake{place}", "save it once more in JupyterLab")


def _file(why: str, yours: str) -> UnreadableFile:
    """Return the error; `yours` is the student's remedy."""
    return UnreadableFile(why, yours=yours)


def _other_format(version: int) -> UnreadableFile:
    why = f"is in notebook format {version}, and {FORMAT} is read"
    save = "open and save it in JupyterLab" if version < FORMAT else "save it with the JupyterLab of this course"
    return UnreadableFile(why, f"ask the student to {save}", save)


def _require_short(cells: list[Any]) -> None:
    """Refuse a notebook with too much text; one cell that holds most of it is named."""
    sizes = [len(_text(cell.get("source"))) if isinstance(cell, dict) else 0 for cell in islice(cells, MAX_CELLS)]
    characters, longest = sum(sizes), max(sizes, default=0)
    if characters <= MAX_CHARACTERS and len(cells) <= MAX_CELLS:
        return
    limits = f"and at most {MAX_CELLS} with {MAX_CHARACTERS} are read"
    if longest > characters / 2:
        raise UnreadableFile(
            f"has {longest} characters in cell {sizes.index(longest) + 1} (of {len(cells)} cells), {limits}",
            "ask the student to shorten the cell",
            "shorten the cell",
        )
    raise UnreadableFile(
        f"has {len(cells)} cells with {characters} characters, {limits}",
        "ask the student for what belongs to the assignment",
        "delete what does not belong to the assignment",
    )


def _whole(notebook: dict[str, Any]) -> NotebookNode | None:
    """Return a valid notebook without its outputs; None if it is not valid or has too many values."""
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        notebook["metadata"].pop("widgets", None)
        if _is_small(notebook) and _is_valid(whole := _node(notebook)):
            return whole
    except Exception:  # whatever nbformat raises for a notebook that is not valid
        return None
    return None


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


def _node(notebook: dict[str, Any]) -> NotebookNode:
    """Return the notebook as nbformat's objects, with texts instead of lists of lines."""
    minor = notebook.get("nbformat_minor", 0)
    node: NotebookNode = nbformat.versions[FORMAT].to_notebook_json(notebook, minor=minor)
    return node


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


def _essence(cells: list[Any]) -> dict[str, Any]:
    """Return the parts of a submission that grading needs: source texts, nbgrader's metadata and tags.

    Jupyter opens, and other programs write, invalid notebooks, for example with odd ids, incomplete outputs, no
    metadata, or cells without a source.
    """
    kept = [_essential(number, cell) for number, cell in enumerate(cells) if isinstance(cell, dict | str)]
    return {"nbformat": FORMAT, "nbformat_minor": 5, "metadata": {}, "cells": kept}


def _essential(number: int, cell: dict[str, Any] | str) -> dict[str, Any]:
    cell = {"source": cell} if isinstance(cell, str) else cell
    given = cell.get("metadata")
    given = given if isinstance(given, dict) else {}
    metadata: dict[str, Any] = {**kept_tags(given)}
    marks = given.get("nbgrader")
    if isinstance(marks, dict):
        metadata["nbgrader"] = {key: value for key, value in marks.items() if not isinstance(value, dict | list)}
    kind, source = _typed(cell)
    kept: dict[str, Any] = {"id": f"cell-{number}", "cell_type": kind, "source": source, "metadata": metadata}
    if kind == "code":
        kept |= {"outputs": [], "execution_count": None}
    elif isinstance(cell.get("attachments"), dict):
        kept["attachments"] = {
            name: forms
            for name, forms in islice(cell["attachments"].items(), MAX_PICTURES)
            if picture_address(forms) and set(forms) <= PICTURES
        }
    return kept


def _typed(cell: dict[str, Any]) -> tuple[str, str]:
    """Return a type that nbformat knows and the text of a cell. A cell of an unknown type becomes plain text."""
    kind, source = cell.get("cell_type"), _text(cell.get("source"))
    match kind:
        case "code" | "markdown" | "raw":
            return kind, source
        case "heading":  # of notebooks from before 2015
            level = cell.get("level")
            return "markdown", f"{'#' * min(max(level, 1), MAX_HEADING) if type(level) is int else '#'} {source}"
        case None:
            return "code" if "outputs" in cell or "execution_count" in cell else "markdown", source
    return "raw", source


def _text(source: Any) -> str:
    """Return the text of a cell, which may be a list of lines; '' for anything that is no text."""
    lines = source if isinstance(source, list) else [source]
    return "".join(str(line) for line in lines if isinstance(line, str | int | float))
