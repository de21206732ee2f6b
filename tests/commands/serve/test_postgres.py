"""Queue and gradebook in PostgreSQL: what a kill of the service or a restart of the database leaves, and words."""

from pathlib import Path

import psycopg
import pytest

from grader.classroom.course_dir import CourseDir
from grader.commands.serve.databases import open_databases
from grader.errors import GraderError
from tests.commands.serve.serving import STUDENTS, Server, make_served_course, written
from tests.support.postgres import Postgres
from tests.support.small_class import SCORES, grade_class, ledger, make_course
from tests.support.waiting import until

SLOW = "import time\ntime.sleep(0.3)\ndef two():\n    return 2"


@pytest.mark.slow
def test_queue_and_gradebook_survive_in_postgresql(database: Postgres, tmp_path: Path) -> None:
    """After a kill, beside a class run, and after a restart of the database: all is graded once, with right scores."""
    url = database.new_database("course")
    settings = f"c.CourseDirectory.db_url = {url!r}\nc.SubmissionPolicy.cooldown = 0\n"
    folder = make_served_course(tmp_path / "course", settings)
    server = Server(folder)
    assert server.graded("ann", written(folder))["report"]["points"] == SCORES["ann"]
    keys = {student: server.hand_in(student, written(folder, two=SLOW)).json["id"] for student in STUDENTS[1:5]}
    until(lambda: "grading" in states(url), "a hand-in that is graded")
    server.kill()
    assert sum(states(url).values()) == 1 + len(keys)
    server = Server(folder)
    assert "ann" in grade_class(folder)
    for student, key in keys.items():
        form = server.report(student, key)
        assert form["state"] == "graded" and form["attempt"] == 1
    late = [server.hand_in(student, written(folder, two=SLOW)).json["id"] for student in STUDENTS[5:8]]
    database.control("restart", "--mode=immediate")
    for student, key in zip(STUDENTS[5:8], late, strict=True):
        assert server.report(student, key)["state"] == "graded"
    assert server.stop() == 0
    assert states(url) == {"graded": 8}
    assert {student: entry["score"] for student, entry in ledger(folder).items()} == dict.fromkeys(STUDENTS[:8], 8.0)
    with psycopg.connect(url) as connection:
        # nbgrader's own `nbgrader db upgrade` needs the version of the tables.
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
    assert not (folder / "hand_ins.db").exists() and not (folder / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql+psycopg2:///course", r"needs the driver psycopg2, .*pip install 'confined-grader\[postgres\]'"),
        ("postgres://localhost/course", r"cannot be used \(.*\): it is a URL such as postgresql\+psycopg://"),
        ("postgresql:///course?host=/nowhere", r"does not answer \(.*/nowhere.*\): start it, or correct the URL"),
    ],
)
def test_a_database_that_cannot_be_opened_is_refused_in_words(tmp_path: Path, url: str, says: str) -> None:
    """Without its driver, under a name that SQLAlchemy does not know, and without a server."""
    folder = make_course(tmp_path / "course")
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(f"c.CourseDirectory.db_url = {url!r}\n")
    with pytest.raises(GraderError, match=says):
        open_databases(CourseDir(folder))


def states(url: str) -> dict[str, int]:
    """How many hand-ins are in each state."""
    with psycopg.connect(url) as connection:
        return dict(connection.execute("SELECT state, count(*) FROM hand_in GROUP BY state").fetchall())
