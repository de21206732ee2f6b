"""The service is killed at any moment: nothing that it accepted is lost or graded twice into the gradebook."""

import random
import time
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from grader.classroom.course_dir import CourseDir
from grader.commands.serve.databases import open_databases
from grader.commands.serve.store import DATABASE
from grader.errors import GraderError
from tests.commands.serve.serving import STUDENTS, Server, make_served_course, other, written
from tests.support.postgres import Postgres
from tests.support.small_class import NAME, grade_class, ledger, make_course
from tests.support.waiting import until

KILLS = 3
SECONDS = 1.5
"""The latest moment of a kill. The first notebook is graded about a second after the start."""
SETTINGS = "c.SubmissionPolicy.cooldown = 0\n"
SLOW = "import time\ntime.sleep(1)\ndef two():\n    return 2"


def states(url: str) -> dict[str, int]:
    """How many hand-ins are in each state."""
    with create_engine(url, poolclass=NullPool).connect() as connection:
        rows = connection.execute(text("SELECT state, count(*) FROM hand_in GROUP BY state"))
        return {state: number for state, number in rows}


def killed(folder: Path, url: str, kills: int) -> tuple[Server, dict[str, float]]:
    """Kill a service with everything waiting, and then at random moments; return it, started again, and the scores."""
    moments, expected, keys = random.Random(1), dict[str, float](), {}
    server = Server(folder)
    for number, student in enumerate(STUDENTS[:5]):
        slow = f"import time\ntime.sleep(0.3)\ndef two():\n    return 2 - {number % 2}"
        expected[student] = 8 - 2.5 * (number % 2)
        keys[student] = server.hand_in(student, written(folder, two=slow)).json["id"]
    keys["other"] = server.hand_in("ann", other(folder), NAME, "other").json["id"]
    expected["ann"] += 4
    server.kill()
    for _ in range(kills):
        server = Server(folder)
        time.sleep(moments.uniform(0, SECONDS))
        server.kill()
    assert sum(states(url).values()) == len(keys) == 6
    server = Server(folder)
    for student, key in keys.items():
        form = server.report("ann" if student == "other" else student, key)
        assert form["state"] == "graded" and form["counts"] and form["attempt"] == 1
    return server, expected


@pytest.mark.slow
def test_a_killed_service_loses_nothing(tmp_path: Path) -> None:
    """Killed with everything still waiting, and then at random moments, three times."""
    folder = make_served_course(tmp_path / "course", SETTINGS)
    server, expected = killed(folder, url := f"sqlite:///{folder / DATABASE}", KILLS)
    server.await_grading("ann", server.hand_in("ann", written(folder, two=SLOW)).json["id"])
    # Asked to stop, it finishes what it grades.
    assert server.stop() == 0
    assert states(url) == {"graded": 7}
    assert {student: entry["score"] for student, entry in ledger(folder).items()} == expected


@pytest.mark.slow
def test_queue_and_gradebook_survive_in_postgresql(database: Postgres, tmp_path: Path) -> None:
    """After kills, beside a class run, and after a restart of the database: all is graded once, with right scores."""
    url = database.new_database("course")
    folder = make_served_course(tmp_path / "course", f"c.CourseDirectory.db_url = {url!r}\n{SETTINGS}")
    server, expected = killed(folder, url, kills=1)
    late = {student: server.hand_in(student, written(folder, two=SLOW)).json["id"] for student in STUDENTS[5:8]}
    until(lambda: "grading" in states(url), "a hand-in that is graded")
    assert "ann" in grade_class(folder, force=True)
    database.control("restart", "--mode=immediate")
    for student, key in late.items():
        assert server.report(student, key)["state"] == "graded"
    assert server.stop() == 0
    assert states(url) == {"graded": 9}
    scores = expected | dict.fromkeys(late, 8.0)
    assert {student: entry["score"] for student, entry in ledger(folder).items()} == scores
    with create_engine(url, poolclass=NullPool).connect() as connection:
        # nbgrader's own `nbgrader db upgrade` needs the version of the tables.
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1
    assert not (folder / DATABASE).exists() and not (folder / "gradebook.db").exists()


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
