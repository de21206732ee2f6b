"""From the instructors' notebooks in source/ to the students' in release/, and to what the gradebook knows."""

import tempfile

from nbgrader.converters import GenerateAssignment
from traitlets.config import Config

from course.classroom import Classroom
from course.errors import CourseError


def release(classroom: Classroom, assignment: str) -> None:
    """Writes release/ASSIGNMENT anew from source/ASSIGNMENT, without solutions, hidden tests and marking schemes."""
    changes = Config(SaveCells={"enabled": False}, GenerateAssignment={"no_database": True})
    _generate(classroom, assignment, changes)


def register(classroom: Classroom, assignment: str) -> None:
    """Tells the gradebook what source/ASSIGNMENT holds: its notebooks, cells and points. release/ stays as it is."""
    with tempfile.TemporaryDirectory() as nowhere:
        _generate(classroom, assignment, Config(), release_directory=nowhere)


def _generate(classroom: Classroom, assignment: str, changes: Config, **course: str) -> None:
    classroom.require(assignment)
    try:
        classroom.run(GenerateAssignment, changes, assignment_id=assignment, **course)
    except CourseError as error:
        raise CourseError(f"cannot prepare '{assignment}' from source/: {error}") from error
