"""The instructors' notebooks in source/: what is wrong with one is told before anybody is graded by it."""

from pathlib import Path

from nbformat import NotebookNode

from course.errors import CourseError
from course.grading.handed_in import Unreadable
from course.grading.notebook import Kind, kind
from course.grading.plan import plan
from course.grading.repair import read


def read_sources(folder: Path, max_mb: int) -> dict[str, NotebookNode]:
    """The source notebooks of an assignment in order, by name."""
    return {path.stem: read_source(path, max_mb) for path in sorted(folder.glob("*.ipynb"))}


def read_source(path: Path, max_mb: int) -> NotebookNode:
    """The source notebook in `path`; raises CourseError where it or a cell of ours in it is broken."""
    try:
        source = read(path.resolve(), max_mb)
    except Unreadable as error:
        raise CourseError(f"source/{path.parent.name}/{error.why}: put it right, or take it from a backup") from None
    for step in plan(source):
        if kind(source.cells[step.index]) in (Kind.TEST, Kind.READ_ONLY):
            try:
                compile(step.source, step.name, "exec")
            except SyntaxError as error:
                raise CourseError(
                    f"source/{path.parent.name}/{path.name}: {step.name} is no Python (line {error.lineno}: "
                    f"{error.msg}); put the cell right"
                ) from None
    return source
