"""Makes the students' notebooks in release/ and the gradebook's entries from the instructors' notebooks in source/."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from grader.classroom.cell_guard import require_same_notebooks
from grader.classroom.course_dir import CourseDir
from grader.engine.limits import Limits
from grader.engine.notebook.cells import CellType
from grader.engine.notebook.files import read_sources
from grader.engine.notebook.outline import Outline
from grader.errors import GraderError
from grader.files import locked
from grader_kernel.contract import first_line

START = "start.ipynb"


class PrepareForStudents(NbGraderPreprocessor):
    """Names the exercise in the first line of each released test, and lets "Run All" go on past what a blank stops.

    It follows ClearHiddenTests, after which a hidden test holds only comments, and precedes the last ComputeChecksums.
    The gradebook, from which nbgrader restores tests, keeps the cells of the source.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Prepare a notebook.

        Args:
            nb: the notebook, which is changed.
            resources: what nbconvert's preprocessors share.
        """
        outline = Outline(nb)
        is_below_blank = False
        for number, cell in enumerate(nb.cells):
            kind = outline.types[number]
            is_below_blank |= kind is CellType.AUTOGRADED_ANSWER
            if cell.cell_type != "code" or kind not in (CellType.TEST, CellType.UNMARKED):
                continue
            has_code = any(line.strip() and not line.startswith("#") for line in cell.source.splitlines())
            if kind is CellType.TEST:
                first = first_line(outline.exercise_at[number], is_hidden=not has_code)
                # nbgrader's own command reads its settings twice, and then runs this twice.
                cell.source = first + cell.source.removeprefix(first)
            if is_below_blank and has_code:
                # JupyterLab and nbclient run what is below, and a check that fails still counts as failed.
                cell.metadata["tags"] = sorted({*cell.metadata.get("tags", ()), "raises-exception"})
        return nb, resources


def release(course_dir: CourseDir, assignment: str) -> None:
    """Write release/ASSIGNMENT from source/ASSIGNMENT, without solutions, hidden tests and marking schemes.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, or its source is broken or refused by nbgrader.
    """
    read_sources(course_dir.require(assignment), Limits(config=course_dir.config).notebook_mb)
    changes = Config(SaveCells={"enabled": False}, GenerateAssignment={"no_database": True})
    with _preparing(assignment):
        course_dir.run(GenerateAssignment, changes, assignment_id=assignment)


def release_start(course_dir: CourseDir) -> None:
    """Copy source/start.ipynb, which leads through all assignments, to release/ without its outputs."""
    source = course_dir.folder("source", START)
    if source.exists():
        notebook, _ = ClearOutputPreprocessor().preprocess(nbformat.read(source, as_version=4), {})
        released = course_dir.folder("release", START)
        released.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, released)


def register(course_dir: CourseDir, assignment: str) -> None:
    """Record the notebooks, cells and points of source/ASSIGNMENT in the gradebook, and leave release/ as it is.

    Args:
        course_dir: the course folder; its gradebook is created if there is none.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, nbgrader refuses its source, the source lacks or adds cells although
            students were graded, or the gradebook cannot be written.
    """
    source = course_dir.require(assignment).resolve()
    # Two processes that fill a new gradebook at once would both create its cells.
    with locked(source, os.O_DIRECTORY, wait=True), tempfile.TemporaryDirectory() as discarded:
        course_dir.make_gradebook()
        with _preparing(assignment):
            require_same_notebooks(course_dir, assignment)
            course_dir.run(GenerateAssignment, Config(), assignment_id=assignment, release_directory=discarded)


@contextmanager
def _preparing(assignment: str) -> Iterator[None]:
    """Name the assignment's source in a GraderError that the block raises."""
    try:
        yield
    except GraderError as error:
        raise GraderError(f"cannot prepare '{assignment}' from source/: {error}") from error
