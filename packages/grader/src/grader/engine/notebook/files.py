"""Reads the instructors' notebooks, which are trusted."""

from pathlib import Path

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, fault_of, grade_id, type_of
from grader.engine.notebook.parsing import parsed
from grader.engine.notebook.plan import plan
from grader.engine.notebook.submission_folder import read_bytes
from grader.errors import GraderError, UnreadableFile


def read_sources(folder: Path, max_mb: int) -> dict[str, NotebookNode]:
    """Return the instructors' notebooks of an assignment by name, in order; raise what `read_source` raises.

    Args:
        folder: the folder of the assignment in `source/`.
        max_mb: the size limit of a notebook, in MiB.
    """
    return {path.stem: read_source(path, max_mb) for path in sorted(folder.glob("*.ipynb"))}


def read_source(path: Path, max_mb: int) -> NotebookNode:
    """Return the instructor's notebook in `path`.

    Args:
        path: the file.
        max_mb: its size limit, in MiB.

    Raises:
        GraderError: the file is broken, a cell in it has metadata that cannot be graded, or a test or read-only cell
            has a syntax error.
    """
    place = "/".join(path.parts[-3:-1])
    try:
        data = read_bytes(path.resolve(), max_mb)
    except UnreadableFile as error:
        raise GraderError(f"{place}/{error.why}: correct it, or restore it from a backup") from None
    try:
        source = parsed(data)
    except UnreadableFile as error:
        raise GraderError(f"{place}/{path.name} {error.why}: correct it, or restore it from a backup") from None
    for number, cell in enumerate(source.cells, 1):
        if fault := fault_of(cell):
            raise GraderError(f"{place}/{path.name}: {grade_id(cell) or f'cell {number}'} {fault}")
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
