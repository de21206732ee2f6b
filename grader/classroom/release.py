"""Makes the students' notebooks in release/ and the gradebook's entries from the instructors' notebooks in source/."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbgrader.converters import GenerateAssignment
from traitlets.config import Config

from grader.classroom.cell_guard import require_same_notebooks
from grader.classroom.course_dir import CourseDir
from grader.errors import GraderError
from grader.limits import Limits
from grader.notebook.files import read_sources

START = "start.ipynb"


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
    with _locked(course_dir.require(assignment)), tempfile.TemporaryDirectory() as discarded:
        course_dir.make_gradebook()
        with _preparing(assignment):
            require_same_notebooks(course_dir, assignment)
            course_dir.run(GenerateAssignment, Config(), assignment_id=assignment, release_directory=discarded)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes: two that fill a new gradebook at once would both create its cells."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _preparing(assignment: str) -> Iterator[None]:
    """Name the assignment's source in a GraderError that the block raises."""
    try:
        yield
    except GraderError as error:
        raise GraderError(f"cannot prepare '{assignment}' from source/: {error}") from error
