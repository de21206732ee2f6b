"""Reads submitted files safely, and reads the instructors' notebooks.

A submitted link may lead to another student's work, a pipe may never end, and a sparse file may be of any length: such
files are rejected.
"""

import os
import stat
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError

from grader.errors import GraderError, UnreadableFile
from grader.limits import MAX_NOTEBOOK_MB
from grader.notebook.cells import PICTURES, CellType, kept_tags, picture_address, type_of
from grader.notebook.plan import plan

MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000
"""Characters in all cells of a notebook, and the number of cells: no notebook may take too long to render."""
FORMAT = 4
"""The format of notebooks since 2015."""


def exists(path: Path) -> bool:
    """Return whether something has this path; raise OSError if that cannot be determined."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read_bytes(path: Path, max_mb: int) -> bytes:
    """Return the content of a submitted file.

    Args:
        path: the file.
        max_mb: how many MiB it may have.

    Raises:
        UnreadableFile: it is a link, not an ordinary file, or too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableFile(f"{path.name} cannot be read ({error.strerror})") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile(f"{path.name} is not a file")
        if status.st_size > max_mb * 2**20:
            size = status.st_size / 2**20
            raise UnreadableFile(
                f"{path.name} has {size:.0f} MB, and at most {max_mb} MB are read", "ask for it without outputs"
            )
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_mb * 2**20)
    finally:
        os.close(descriptor)


def read_notebook(path: Path, max_mb: int = MAX_NOTEBOOK_MB) -> NotebookNode:
    """Return the notebook in `path`.

    Args:
        path: the file.
        max_mb: how many MiB it may have.

    Raises:
        UnreadableFile: it is not a notebook, in a format from before 2015, or too large.
    """
    try:
        notebook = nbformat.reader.reads(read_bytes(path, max_mb).decode("utf-8-sig"))
        if notebook["nbformat"] < FORMAT:
            raise UnreadableFile(
                f"{path.name} is in notebook format {notebook['nbformat']}, and {FORMAT} is read",
                "ask the student to open and save it in JupyterLab",
            )
        if not _is_valid(notebook):
            notebook = _essence(notebook)
            if not _is_valid(notebook):
                raise nbformat.ValidationError("its cells do not match the notebook format")
        characters = sum(len(cell.source) for cell in notebook.cells)
        if characters > MAX_CHARACTERS or len(notebook.cells) > MAX_CELLS:
            raise UnreadableFile(
                f"{path.name} has {len(notebook.cells)} cells with {characters} characters, "
                f"and at most {MAX_CELLS} with {MAX_CHARACTERS} are read",
                "ask the student for what belongs to the assignment",
            )
        return notebook
    except UnreadableFile:
        raise
    except Exception as error:
        reason = "is not JSON" if isinstance(error, NotJSONError | UnicodeDecodeError) else "is not a valid notebook"
        raise UnreadableFile(f"{path.name} {reason} ({type(error).__name__})") from None


def _is_valid(notebook: NotebookNode) -> bool:
    """Whether a notebook matches its format.

    nbformat.validate searches for the best error message if it does not, which takes hours for a crafted file.
    """
    minor = notebook.get("nbformat_minor")
    if type(minor) is not int:
        return False
    # In a minor version that does not exist yet, nbformat would accept cells of any type with any content.
    minor = min(minor, nbformat.current_nbformat_minor)
    return not nbformat.validator.get_validator(FORMAT, minor).iter_errors(notebook)


def _essence(notebook: NotebookNode) -> NotebookNode:
    """The parts of a submission that grading needs: source texts, nbgrader's metadata and tags.

    Jupyter opens, and other editors write, notebooks that the schema forbids: with odd ids or incomplete outputs, say.
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
                for name, forms in cell["attachments"].items()
                if picture_address(forms) and set(forms) <= PICTURES
            }
        cells.append(kept)
    essence: NotebookNode = nbformat.from_dict(
        {"nbformat": FORMAT, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    )
    return essence


def read_sources(folder: Path, max_mb: int) -> dict[str, NotebookNode]:
    """Return the instructors' notebooks of an assignment by name, in order; raise what `read_source` raises.

    Args:
        folder: the folder of the assignment in `source/`.
        max_mb: how many MiB a notebook may have.
    """
    return {path.stem: read_source(path, max_mb) for path in sorted(folder.glob("*.ipynb"))}


def read_source(path: Path, max_mb: int) -> NotebookNode:
    """Return the instructor's notebook in `path`.

    Args:
        path: the file.
        max_mb: how many MiB it may have.

    Raises:
        GraderError: the file is broken, or a test or read-only cell in it has a syntax error.
    """
    place = "/".join(path.parts[-3:-1])
    try:
        source = read_notebook(path.resolve(), max_mb)
    except UnreadableFile as error:
        raise GraderError(f"{place}/{error.why}: correct it, or restore it from a backup") from None
    for step in plan(source):
        if type_of(source.cells[step.index]) in (CellType.TEST, CellType.READ_ONLY):
            try:
                compile(step.source, step.name, "exec")
            except SyntaxError as error:
                raise GraderError(
                    f"{place}/{path.name}: {step.name} has a syntax error on line {error.lineno} ({error.msg}): "
                    "fix the cell"
                ) from None
    return source
