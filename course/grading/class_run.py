"""A class of submissions, graded one after the other; what goes wrong with one student stays with that student.

source/ --register--> gradebook
submitted/STUDENT --readable?--> autograde --> gradebook, autograded/ --> feedback/
"""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde, GenerateFeedback
from traitlets.config import Config

from course.classroom import Classroom
from course.errors import CourseError
from course.release import register


def grade_class(
    classroom: Classroom, assignment: str, say: Callable[[str], None] = lambda student: None
) -> dict[str, str]:
    """Grades every submission of `assignment` and writes gradebook, autograded/ and feedback/.

    `say` is called with each student before that student's turn. Returns, for each student whose submission could not
    be graded, one line that says why and what to do; empty when all went well. Raises CourseError where there is
    nothing to grade.
    """
    classroom.require(assignment)
    students = classroom.students(assignment)
    register(classroom, assignment)
    troubles = {}
    for student in students:
        say(student)
        try:
            _grade_student(classroom, assignment, student)
        except CourseError as error:
            troubles[student] = str(error)
    return troubles


def _grade_student(classroom: Classroom, assignment: str, student: str) -> None:
    submitted = classroom.folder("submitted", assignment, student)
    for notebook in sorted(submitted.glob("*.ipynb")):
        _check_readable(notebook, classroom.root)
    try:
        classroom.run(Autograde, Config(), assignment_id=assignment, student_id=student)
        classroom.run(GenerateFeedback, Config(), assignment_id=assignment, student_id=student)
    except Exception as error:
        raise CourseError(
            f"nbgrader cannot grade it ({error}): run 'nbgrader autograde {assignment} "
            f"--student {student} --force' to see all it says"
        ) from error


def _check_readable(notebook: Path, root: Path) -> None:
    try:
        nbformat.validate(nbformat.read(notebook, as_version=4))
    except Exception as error:
        raise CourseError(
            f"{notebook.relative_to(root)} is not a notebook ({type(error).__name__}): ask the student for it again"
        ) from error
