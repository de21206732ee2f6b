"""Time limits on a busy machine: the load of other programs costs no points, and saves no endless loop."""

import os
import subprocess
import sys

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.runner.clock import SLOWEST, Clock, Deadline
from tests.support.notebooks import answer, answered, check, notebook

SOURCE = notebook(answer("f", "def f():\n    return 1"), check("f-check", "assert f() == 1"))
COMPUTES = "import time\ndef f():\n    end = time.process_time() + 0.5\n    while time.process_time() < end: pass\n"


@pytest.fixture
def busy():
    """Run three other programs on every processor: with a fair share for each, a second of computing takes four."""
    spin = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    programs = [
        subprocess.Popen([sys.executable, "-c", spin, str(processor)], start_new_session=True)
        for processor in os.sched_getaffinity(0)
        for _ in range(3)
    ]
    yield
    for program in programs:
        program.kill()
        program.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "verdict"), [("return 1", "passed"), ("while True: pass", "timed out"), ("time.sleep(60)", "timed out")]
)
def test_a_busy_machine_takes_no_points_and_excuses_no_endless_loop(busy, body, verdict):
    """Half a second of computing is within a limit of one, though it takes two seconds of wall time."""
    limits = Limits(cell_seconds=1, notebook_seconds=6)
    [result] = grade(SOURCE, answered(SOURCE, f=f"{COMPUTES}    {body}"), limits).results
    assert str(result.verdict) == verdict


class _StandsStill(Clock):
    def now(self) -> float:
        return 0.0


def test_a_deadline_comes_though_the_clock_stands_still(monkeypatch):
    """Code that only ever waits for a processor, behind threads of its own perhaps, exceeds the limit in the end."""
    moment = 100.0
    monkeypatch.setattr("time.monotonic", lambda: moment)
    deadline = Deadline(_StandsStill(), 2)
    moment = 100.0 + SLOWEST * 2 - 1
    assert not deadline.is_over()
    moment += 1.5
    assert deadline.is_over()


def test_a_process_that_does_not_exist_waits_for_nothing():
    """Where the kernel counts no waiting, the clock counts wall time."""
    clock = Clock()
    clock.follow(2**22 + 1)
    assert clock.now() > 0
