"""What counts after the due date: the gradebook's extension and the course's plugin decide."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.release import register
from grader.classroom.submitted.times import notebook_times, record_time
from grader.commands.serve.databases import Deadlines, settle_due_dates
from grader.commands.serve.policy import SubmissionPolicy
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.errors import GraderError
from tests.commands.serve.serving import Server, make_served_course, other, written
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


def test_a_late_notebook_makes_no_other_one_late(course: CourseDir) -> None:
    """A notebook that was handed in alone has a time of its own, on which its penalty depends."""
    times = {"small": DUE, "other": DUE + HOUR}
    with GradebookWriter(course, NAME) as writer:
        writer.write([StudentScores("dan", SCORES, DUE, {"small": DUE}, keep_others=True)])
        writer.write([StudentScores("dan", OTHER, DUE + HOUR, times, keep_others=True)])
        assert penalties(course, "dan") == {"small": (6.0, None), "other": (4.0, 4.0)}
        writer.write([StudentScores("dan", SCORES | OTHER, DUE + HOUR, times)])
    assert penalties(course, "dan") == {"small": (6.0, None), "other": (4.0, 4.0)}


def test_without_times_of_their_own_all_notebooks_have_that_of_the_submission(course: CourseDir) -> None:
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


def test_the_time_of_a_notebook_holds_for_what_was_handed_in_then(tmp_path: Path) -> None:
    """Not for other bytes, and no file of the student's brings one."""
    folder = tmp_path / "submitted" / "ann" / NAME
    folder.mkdir(parents=True)
    for name, content in (("small", b"1"), ("other", b"2")):
        (folder / f"{name}.ipynb").write_bytes(content)
        record_time(folder, name, content, DUE)
    handed_in = SubmissionFolder(folder, tmp_path)
    assert notebook_times(handed_in, 1) == {"small": DUE, "other": DUE}
    (folder / "small.ipynb").write_bytes(b"3")
    (folder / f".{NAME}.times.json").write_bytes((folder.parent / f".{NAME}.times.json").read_bytes())
    assert notebook_times(handed_in, 1) == {"other": DUE}
    (folder.parent / f".{NAME}.times.json").write_text("[")
    assert notebook_times(handed_in, 1) == {}


def test_there_is_one_due_date(tmp_path: Path) -> None:
    """The configuration's becomes the gradebook's; where both have one, they must agree."""
    course = CourseDir(make_served_course(tmp_path / "course"))
    due = {"due": "2026-03-02 11:00 Europe/Berlin"}
    rules = {NAME: SubmissionPolicy(Config(SubmissionPolicy=due))}
    settle_due_dates(course, {NAME: SubmissionPolicy()})
    assert Deadlines(course.directory.db_url).due(NAME, "ann") is None
    for _ in range(2):
        settle_due_dates(course, rules)
        assert Deadlines(course.directory.db_url).due(NAME, "ann") == DUE
    register(course, NAME)  # as the first hand-in does
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE + HOUR)
    with pytest.raises(
        GraderError, match=r"two due dates, 2026-03-02 10:00:00 UTC in .* and 2026-03-02 11:00:00 UTC in"
    ):
        settle_due_dates(course, rules)
    assert Deadlines(course.directory.db_url).due(NAME, "ann") == DUE + HOUR


@pytest.mark.slow
def test_a_late_hand_in_says_its_cost_before_it_counts(tmp_path: Path) -> None:
    """Until the student confirms it; then only that notebook is late, and pages, table and gradebook agree."""
    settings = "c.LateSubmissionPlugin.penalty_method = 'zero'\nc.SubmissionPolicy.cooldown = 0\n"
    server = Server(make_served_course(tmp_path / "course", settings))
    try:
        data, course = written(server.folder), CourseDir(server.folder)
        assert "late" not in server.hand_in("ann", data).json
        server.graded("ann", data)
        with course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=datetime(2001, 1, 1))
        # What was handed in before has its time; the due date moved behind it, and nothing is regraded yet.
        refused = server.ask(f"/hand-in/{NAME}/other", "ann", other(server.folder))
        assert refused.status == 409 and "was due at 2001-01-01 00:00:00 UTC" in refused.json["error"]
        assert "other with full points would lose 4 of 4" in refused.json["error"]
        assert server.ask("/", "ann").json["assignments"][NAME]["notebooks"]["other"]["attempts"] == 0
        taken = server.ask(f"/hand-in/{NAME}/other?late=yes", "ann", other(server.folder))
        assert taken.status == 202 and taken.json["late"].endswith("days")
        server.report("ann", taken.json["id"])
        # What is known already is no late hand-in.
        again = server.hand_in("ann", data)
        assert again.status == 202 and "late" not in again.json and again.json["attempt"] == 1
        assert penalties(course, "ann") == {"small": (8.0, 8.0), "other": (4.0, 4.0)}  # due since 2001
    finally:
        assert server.stop() == 0
