"""Every pool has a share: while one student is at a limit, another one gets through."""

import sqlite3
from collections.abc import Iterator
from itertools import count

import pytest

from grader.service.store import DATABASE
from tests.service.serving import Answer, Server, make_served_course, written
from tests.support.waiting import until

SETTINGS = """
c.HandIn.cooldown = 0
c.Limits.notebook_mb = 1
c.ServiceLimits.student_mb = 1
c.ServiceLimits.requests_per_minute = 1000000
"""
LARGE = 600_000
"""Bytes of a notebook of which two are more than a student may have."""
SLOW = "import time\ntime.sleep(1)\ndef two():\n    return 2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service in which eve takes all that she can get."""
    server = Server(make_served_course(tmp_path_factory.mktemp("shares") / "course", SETTINGS))
    yield server
    assert server.stop() == 0


def gets_through(server: Server, student: str) -> bool:
    """Whether a student hands in, and has a report with all points."""
    return bool(server.graded(student, written(server.folder))["report"]["points"] == 8)


def stored(server: Server, student: str) -> int:
    """How many bytes of a student's hand-ins are stored."""
    with sqlite3.connect(server.folder / DATABASE) as database:
        query = "select coalesce(sum(length(content)), 0) from hand_in where student = ?"
        return int(database.execute(query, [student]).fetchone()[0])


def test_student_mb_of_one_fill_no_disk(server: Server) -> None:
    """What waits for eve's slow job has a budget of bytes, and is refused in words after that."""
    answers: list[Answer] = []
    numbers = count()

    def is_refused() -> bool:
        text = f"{SLOW}\n#{next(numbers)}"
        answers.append(server.hand_in("eve", written(server.folder, two=text) + b" " * LARGE))
        assert stored(server, "eve") <= 2**20
        return answers[-1].status == 429

    until(is_refused, "a refusal")
    assert "as many bytes" in answers[-1].json["error"] and answers[-1].headers["Retry-After"]
    assert gets_through(server, "ann")
    assert server.report("eve", answers[0].json["id"])["state"] == "graded"
