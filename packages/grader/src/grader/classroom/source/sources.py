"""Reads the instructors' notebooks with which students are graded: AUTOTEST lines are tests, as nbgrader makes them.

source/NAME --engine.read_source--> notebook --has AUTOTEST lines?--> autotests.instantiate --> notebook

A notebook without such lines costs nothing more.
"""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from grader.engine.notebook.folder import files
from grader.errors import GraderError


def read_sources(folder: Path, max_mb: int, config: Config) -> dict[str, NotebookNode]:
    """Return the instructors' notebooks of an assignment by name, in order.

    Args:
        folder: the folder of the assignment in `source/`.
        max_mb: the size limit of a notebook, in MiB.
        config: the configuration of the course.

    Raises:
        GraderError: a notebook is broken, or a test in it tests nothing or cannot be instantiated.
    """
    return {path.stem: read_source(path, max_mb, config) for path in sorted(folder.glob("*.ipynb"))}


def read_source(path: Path, max_mb: int, config: Config) -> NotebookNode:
    """Return the instructor's notebook in `path`; see `read_sources`."""
    return instantiated(files.read_source(path, max_mb), path, config)


def instantiated(source: NotebookNode, path: Path, config: Config) -> NotebookNode:
    """Return an instructor's notebook with the tests that nbgrader makes of its AUTOTEST lines.

    Args:
        source: the notebook, which is not changed.
        path: its file.
        config: the configuration of the course.

    Raises:
        GraderError: a test cannot be instantiated, or tests nothing then.
    """
    if not has_autotests(source):
        return source
    from grader.classroom.source.autotests import instantiate  # slow to load, and rarely needed

    place = "/".join(path.parts[-3:])
    try:
        made = instantiate(source, path.parent, config)
    except GraderError as error:
        raise GraderError(f"{place}: {error}") from error
    files.require_tests(made, place)
    return made


def raw_text(source: NotebookNode, folder: Path, config: Config) -> str:
    """Return everything in source/ that the tests of a notebook are made of, as one text.

    Args:
        source: the notebook before its tests are instantiated.
        folder: the folder of its assignment.
        config: the configuration of the course.
    """
    if not has_autotests(source):
        return str(nbformat.writes(source))
    from grader.classroom.source.autotests import templates

    return f"{nbformat.writes(source)}\n{templates(folder, config)}"


def has_autotests(source: NotebookNode) -> bool:
    """Return whether nbgrader has to make tests of lines of the notebook."""
    return any(files.autotest_line(cell.source) for cell in source.cells if cell.cell_type == "code")
