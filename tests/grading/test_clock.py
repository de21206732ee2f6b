"""Time limits on a busy machine: what others take of the processor costs no points, and nobody gets more for it."""

import os
import subprocess
import sys

import pytest
from notebooks import answer, answered, check, notebook

from course.grading.clock import SLOWEST, Clock, Deadline
from course.grading.grade import grade
from course.grading.limits import Limits

SOURCE = notebook(answer("f", "def f():\n    return 1"), check("f-check", "assert f() == 1"))
COMPUTES = "import time\ndef f():\n    end = time.process_time() + 0.5\n    while time.process_time() < end: pass\n"


@pytest.fixture
def busy():
    """Three other programs on every processor, each with a fair share of it: a second takes four."""
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


def verdict(body):
    report = grade(SOURCE, answered(SOURCE, f=f"{COMPUTES}{body}"), Limits(cell_seconds=1, notebook_seconds=6))
    return str(report.results[0].verdict)


def test_a_busy_machine_takes_no_points(busy):
    """Half a second of computing is within a limit of one, though it takes two on the wall."""
    assert verdict("    return 1") == "passed"


@pytest.mark.parametrize("body", ["    while True: pass", "    time.sleep(60)"])
def test_a_busy_machine_saves_nobody(busy, body):
    """Computing without end and sleeping are over their limit as ever."""
    assert verdict(body) == "timed out"


class _StandsStill(Clock):
    def now(self) -> float:
        return 0.0


def test_waiting_ends(monkeypatch):
    """Whoever waits without end, for threads of their own perhaps, is over the limit in the end."""
    moment = 100.0
    monkeypatch.setattr("time.monotonic", lambda: moment)
    deadline = Deadline(_StandsStill(), 2)
    moment = 100.0 + SLOWEST * 2 - 1
    assert not deadline.is_over()
    moment += 1.5
    assert deadline.is_over()


def test_who_does_not_exist_waits_for_nothing():
    """Where the kernel counts no waiting, seconds are those on the wall."""
    clock = Clock()
    clock.follow(2**22 + 1)
    assert clock.now() > 0
