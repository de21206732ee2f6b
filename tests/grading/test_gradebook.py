"""What is written for one student: it takes as long for the last of a large class as for the first."""

import pytest
from small_class import NAME, make_course
from sqlalchemy import event

from course.classroom import Classroom
from course.grading.gradebook import Marks, Writer
from course.release import register


@pytest.fixture
def classroom(tmp_path):
    """A course folder whose gradebook knows the assignment and nobody."""
    classroom = Classroom(make_course(tmp_path / "course"))
    register(classroom, NAME)
    return classroom


def statements(writer):
    """What is asked of the gradebook while one student is written, with what is asked for."""
    heard = []
    connection = writer._database.connection()

    def hear(_connection, _cursor, statement, parameters, _context, _many):
        heard.append((statement, parameters))

    event.listen(connection.engine, "before_cursor_execute", hear)
    writer.write("ann", {"small": Marks({"one-check": 1.0}, set())}, None)
    event.remove(connection.engine, "before_cursor_execute", hear)
    return heard


def test_an_index_finds_every_row(classroom):
    """No table that grows with the class is gone through from its beginning to its end."""
    growing = {"student", "submitted_assignment", "submitted_notebook", "grade", "comment"}
    with Writer(classroom, NAME) as writer:
        asked = [pair for pair in statements(writer) if pair[0].startswith("SELECT")]
        assert len(asked) >= 4
        for statement, parameters in asked:
            plan = writer._database.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            assert not growing & {row[-1].removeprefix("SCAN ") for row in plan}, statement
