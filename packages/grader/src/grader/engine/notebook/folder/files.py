"""Reads the instructors' notebooks, which are trusted."""

import ast
from pathlib import Path

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, fault_of, grade_id, type_of
from grader.engine.notebook.folder.submission_folder import read_bytes
from grader.engine.notebook.magics import as_python, syntax_error
from grader.engine.notebook.parsing import parsed
from grader.errors import GraderError, UnreadableFile
from grader.text import plural

AUTOTEST = "AUTOTEST"
"""The word in a comment from which nbgrader instantiates a test."""


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
        GraderError: the file is broken, metadata of a cell cannot be graded, or what `require_tests` raises.
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
    require_tests(source, f"{place}/{path.name}")
    return source


def require_tests(source: NotebookNode, place: str) -> None:
    """Require of an instructor's notebook that its tests and read-only cells can run and that each test tests.

    Args:
        source: the notebook.
        place: its file, for the message.

    Raises:
        GraderError: a test or read-only cell has a syntax error, or a test with points has only comments.
    """
    for cell in source.cells:
        kind, name = type_of(cell), grade_id(cell)
        if cell.cell_type != "code" or kind not in (CellType.TEST, CellType.READ_ONLY):
            continue
        if (error := syntax_error(cell.source)) is not None:
            line = f" on line {error.lineno}" if error.lineno else ""
            raise GraderError(f"{place}: {name} has a syntax error{line} ({error.msg}): fix the cell")
        points = cell.metadata["nbgrader"].get("points") if kind is CellType.TEST else 0
        if points and not autotest_line(cell.source) and not _has_statement(as_python(cell.source)):
            raise GraderError(
                f"{place}: the test {name} has {plural(points, 'point')} and only comments, so it would give them for "
                "nothing: write the test, or set its points to 0"
            )


def autotest_line(source: str) -> int:
    """Return the number of the first line of a cell with a test that nbgrader still has to instantiate, or 0."""
    lines = enumerate(source.splitlines(), 1) if AUTOTEST in source else ()
    return next((number for number, line in lines if AUTOTEST in line and line.lstrip().startswith("#")), 0)


def require_instantiated(source: NotebookNode) -> None:
    """Raise GraderError if nbgrader still has to instantiate a test of an instructor's notebook."""
    for number, cell in enumerate(source.cells, 1):
        if cell.cell_type == "code" and (line := autotest_line(cell.source)):
            name = grade_id(cell) or f"cell {number}"
            raise GraderError(
                f"{name}, line {line}: {AUTOTEST} is a comment until nbgrader makes a test of it: read the notebook "
                "with grader.classroom.source.sources"
            )


def _has_statement(source: str) -> bool:
    """Return whether a cell has a statement that is not only a text."""
    return any(
        not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str))
        for each in ast.parse(source).body
    )
