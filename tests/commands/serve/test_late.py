"""What counts after the due date: the gradebook's extension and the course's plugin decide."""

from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.release import register
from grader.commands.serve.databases import Deadlines
from tests.commands.serve.serving import make_served_course
from tests.support.small_class import NAME, results_of

DUE = datetime(2026, 3, 2, 10)
HOUR = timedelta(hours=1)
SCORES = {"small": NotebookScores(results_of({"one-check": 1.0, "two-check": 5.0}), set())}
OTHER = {"other": NotebookScores(results_of({"three-check": 4.0}), set())}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDir:
    """A course in which late submissions score zero; ann has an extension of two hours, bob has none."""
    settings = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
    course = CourseDir(make_served_course(tmp_path_factory.mktemp("late") / "course", settings))
    assert Deadlines(course.directory.db_url).due(NAME, "ann") is None  # there is no gradebook yet
    register(course, NAME)
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
        for student in ("ann", "bob"):
            gradebook.add_student(student)
            gradebook.add_submission(NAME, student)
        gradebook.grant_extension(NAME, "ann", hours=2)
    return course


def test_the_due_date_has_the_students_extension(course: CourseDir) -> None:
    """A student without a submission has the date of the assignment; an unknown assignment has none."""
    deadlines = Deadlines(course.directory.db_url)
    dates = [deadlines.due(NAME, student) for student in ("ann", "bob", "new")]
    assert dates == [DUE + 2 * HOUR, DUE, DUE] and deadlines.due("99", "ann") is None


def test_a_penalty_is_foretold_as_the_gradebook_writes_it(course: CourseDir) -> None:
    """So 'best' compares what would count: in time, within the extension, and after it."""
    with GradebookWriter(course, NAME) as writer:
        for student, when in (("bob", DUE), ("bob", DUE + HOUR), ("ann", DUE + HOUR), ("ann", DUE + 3 * HOUR)):
            foretold = writer.late_penalty(student, 6.0, when)
            assert foretold == (6.0 if when > DUE + (2 * HOUR if student == "ann" else 0 * HOUR) else 0.0)
            assert writer.write([StudentScores(student, SCORES, when)])[student]["small"].penalty == foretold


def test_a_notebook_alone_moves_the_penalty_of_all(course: CourseDir) -> None:
    """nbgrader has one time for an assignment: the other notebook keeps its points, and its penalty changes."""
    with GradebookWriter(course, NAME) as writer:
        writer.write([StudentScores("cat", SCORES, DUE, keep_others=True)])
        writer.write([StudentScores("cat", OTHER, DUE + HOUR, keep_others=True)])
    assert penalties(course, "cat") == {"small": (6.0, 6.0), "other": (4.0, 4.0)}
    with GradebookWriter(course, NAME) as writer:
        writer.write([StudentScores("cat", OTHER, DUE, keep_others=True)])
        writer.write([StudentScores("cat", OTHER, DUE, keep_others=True)])
    assert penalties(course, "cat") == {"small": (6.0, None), "other": (4.0, None)}
    with GradebookWriter(course, NAME) as writer:
        writer.write([StudentScores("cat", OTHER, DUE)])
    assert penalties(course, "cat") == {"small": (0.0, None), "other": (4.0, None)}


def penalties(course: CourseDir, student: str) -> dict[str, tuple[float, float | None]]:
    """The score and the penalty of each of a student's notebooks."""
    with Gradebook(course.directory.db_url) as gradebook:
        notebooks = gradebook.find_submission(NAME, student).notebooks
        return {each.name: (each.score, each.late_submission_penalty) for each in notebooks}
