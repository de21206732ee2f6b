"""Writing one student takes as long for the last of a large class as for the first."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
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
