"""Grades one notebook of one student, for the class run and for the service alike.

source, submission --> repair --> grade --> StudentResult: report, notebook, troubles, remarks
"""

from dataclasses import dataclass

from nbformat import NotebookNode

from grader.classroom.course_dir import CourseDir
from grader.classroom.results import StudentResult
from grader.diagnosis.misconceptions import Misconception, load
from grader.grading import grade
from grader.limits import Limits
from grader.notebook.files import read_sources
from grader.notebook.repair import repair


@dataclass(frozen=True)
class Assignment:
    """What every student of an assignment is graded by: the instructors' notebooks by name, and settings."""

    sources: dict[str, NotebookNode]
    limits: Limits
    sandbox: bool
    misconceptions: list[Misconception]
    helper_packages: tuple[str, ...]


def load_assignment(course_dir: CourseDir, assignment: str, *, sandbox: bool) -> Assignment:
    """Read what an assignment is graded by.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        sandbox: whether the kernel confines student code.

    Raises:
        GraderError: there is no such assignment, or one of its notebooks is broken.
    """
    limits = Limits(config=course_dir.config)
    sources = read_sources(course_dir.require(assignment), limits.notebook_mb)
    misconceptions = load(course_dir.folder("source", assignment))
    return Assignment(sources, limits, sandbox, misconceptions, course_dir.helper_packages)


def grade_notebook(assignment: Assignment, name: str, submission: NotebookNode, student_result: StudentResult) -> None:
    """Grade one notebook and add what that gave to a student's result.

    Args:
        assignment: what the notebook is graded by.
        name: the name of its source.
        submission: the notebook that was handed in.
        student_result: receives the report, the repaired notebook, and troubles and remarks in words.

    Raises:
        SandboxUnavailable: student code could not be confined.
    """
    repaired = repair(assignment.sources[name], submission)
    report = grade(
        assignment.sources[name],
        repaired,
        assignment.limits,
        sandbox=assignment.sandbox,
        misconceptions=assignment.misconceptions,
        helper_packages=assignment.helper_packages,
    )
    report.require_confined()
    student_result.reports[name], student_result.notebooks[name] = report, repaired.notebook
    if report.given_up:
        student_result.troubles.append(
            f"grading {name} did not come to an end, so its tests give no points: grade it again with --force"
        )
    if report.repairs:
        cells = "a cell was" if len(report.repairs) == 1 else f"{len(report.repairs)} cells were"
        student_result.remarks.append(f"{cells} repaired in {name}")
