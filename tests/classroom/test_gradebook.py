"""Writing one student takes as long for the last of a large class as for the first."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.record.record import UNDONE, Record
from grader.classroom.release import register
from tests.support.small_class import NAME, make_course, results_of


@pytest.fixture
def course_dir(tmp_path: Path) -> CourseDir:
    """A course folder whose gradebook has the assignment and no student."""
    course_dir = CourseDir(make_course(tmp_path / "course"))
    register(course_dir, NAME)
    return course_dir


def statements(writer: GradebookWriter) -> list[tuple[str, Any]]:
    """The SQL statements, with their parameters, that write two students, for the first time and once more."""
    executed = []
    connection = writer._database.connection()

    def record(_connection, _cursor, statement, parameters, _context, _many):
        executed.append((statement, parameters))

    event.listen(connection.engine, "before_cursor_execute", record)
    scores = {"small": NotebookScores(results_of({"one-check": 1.0}), set())}
    for _ in range(2):
        writer.write([StudentScores(student, scores) for student in ("ann", "bob")])
    event.remove(connection.engine, "before_cursor_execute", record)
    return executed


def test_an_index_finds_every_row(course_dir: CourseDir) -> None:
    """No statement scans a table that grows with the class."""
    growing = {"student", "submitted_assignment", "submitted_notebook", "grade", "comment"}
    with GradebookWriter(course_dir, NAME) as writer:
        queries = [pair for pair in statements(writer) if pair[0].startswith("SELECT")]
        assert len(queries) >= 6
        for statement, parameters in queries:
            plan = writer._database.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            assert not growing & {row[-1].removeprefix("SCAN ") for row in plan}, statement


def test_no_test_changes_without_an_entry(course_dir: CourseDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry is there before the gradebook changes; if that fails, another one takes it back."""

    def graded(points: float) -> list[StudentScores]:
        return [StudentScores("ann", {"small": NotebookScores(results_of({"one-check": points}), set())})]

    with GradebookWriter(course_dir, NAME) as writer:
        for points in (1.0, 1.0):
            writer.write(graded(points), "graded again")
        assert course_dir.record and course_dir.record.entries() == []

        def save(*_: object) -> None:
            assert [entry.after for entry in Record(course_dir.root).entries()] == [0.5]
            raise OSError("full")

        with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
            patch.setattr(writer, "_save_submissions", save)
            writer.write(graded(0.5), "graded again")
        assert writer.scores("ann")["small"].cells["one-check"].auto == 1
        writer.write(graded(0.5), "graded again")
    assert [(each.before, each.after, each.why) for each in course_dir.record.entries()] == [
        (1.0, 0.5, "graded again"), (0.5, 1.0, UNDONE), (1.0, 0.5, "graded again")
    ]  # fmt: skip
