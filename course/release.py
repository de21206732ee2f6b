"""From the instructors' notebooks in source/ to the students' in release/, and to what the gradebook knows."""

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

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.limits import Limits
from course.grading.sources import read_sources
from course.same_cells import require_same_notebooks

START = "start.ipynb"


def release(classroom: Classroom, assignment: str) -> None:
    """Writes release/ASSIGNMENT anew from source/ASSIGNMENT, without solutions, hidden tests and marking schemes."""
    read_sources(classroom.require(assignment), Limits(config=classroom.config).notebook_mb)
    changes = Config(SaveCells={"enabled": False}, GenerateAssignment={"no_database": True})
    with _preparing(assignment):
        classroom.run(GenerateAssignment, changes, assignment_id=assignment)


def release_start(classroom: Classroom) -> None:
    """Writes the notebook that leads through all assignments, source/start.ipynb, to release/, without outputs."""
    source = classroom.folder("source", START)
    if source.exists():
        notebook, _ = ClearOutputPreprocessor().preprocess(nbformat.read(source, as_version=4), {})
        released = classroom.folder("release", START)
        released.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, released)


def register(classroom: Classroom, assignment: str) -> None:
    """Tells the gradebook what source/ASSIGNMENT holds: its notebooks, cells and points. release/ stays as it is."""
    with _alone_in(classroom.require(assignment)), tempfile.TemporaryDirectory() as nowhere:
        classroom.make_gradebook()
        with _preparing(assignment):
            require_same_notebooks(classroom, assignment)
            classroom.run(GenerateAssignment, Config(), assignment_id=assignment, release_directory=nowhere)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Waits until no other process is here: two that fill a new gradebook at once would each make its cells."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _preparing(assignment: str) -> Iterator[None]:
    """What goes wrong in the block is told as a matter of this assignment's source."""
    try:
        yield
    except CourseError as error:
        raise CourseError(f"cannot prepare '{assignment}' from source/: {error}") from error
