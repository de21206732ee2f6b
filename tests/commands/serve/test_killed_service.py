"""The service is killed at any moment: nothing that it accepted is lost or graded twice into the gradebook."""

import random
import sqlite3
import time
from pathlib import Path

import pytest

from tests.commands.serve.serving import STUDENTS, Server, make_served_course, other, written
from tests.support.small_class import NAME, ledger

pytestmark = pytest.mark.slow

KILLS = 3
SECONDS = 1.5
"""The latest moment of a kill. The first notebook is graded about a second after the start."""


def test_a_killed_service_loses_nothing(tmp_path: Path) -> None:
    """Killed with everything still waiting, and then at random moments, three times."""
    folder = make_served_course(tmp_path / "course", "c.SubmissionPolicy.cooldown = 0\n")
    moments, expected, keys = random.Random(1), {}, {}
    server = Server(folder)
    for number, student in enumerate(STUDENTS[:5]):
        slow = f"import time\ntime.sleep(0.3)\ndef two():\n    return 2 - {number % 2}"
        expected[student] = 8 - 2.5 * (number % 2)
        keys[student] = server.hand_in(student, written(folder, two=slow)).json["id"]
    keys["other"] = server.hand_in("ann", other(folder), NAME, "other").json["id"]
    expected["ann"] += 4
    server.kill()
    for _ in range(KILLS):
        server = Server(folder)
        time.sleep(moments.uniform(0, SECONDS))
        server.kill()
    assert sum(states(folder).values()) == len(keys)
    server = Server(folder)
    for student, key in keys.items():
        form = server.report("ann" if student == "other" else student, key)
        assert form["state"] == "graded" and form["counts"] and form["attempt"] == 1
    last = server.hand_in("ann", written(folder, two="import time\ntime.sleep(1)\ndef two():\n    return 2")).json["id"]
    server.await_grading("ann", last)
    # Asked to stop, it finishes what it grades.
    assert server.stop() == 0
    assert states(folder) == {"graded": len(keys) + 1}
    assert {student: entry["score"] for student, entry in ledger(folder).items()} == expected


def states(folder: Path) -> dict[str, int]:
    """How many hand-ins are in each state."""
    with sqlite3.connect(folder / "hand_ins.db") as database:
        return dict(database.execute("select state, count(*) from hand_in group by state"))
