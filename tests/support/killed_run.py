"""A class run of the small class as a program of its own, to be killed at any moment and finished later."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME

COMMAND = [sys.executable, "-m", "grader", "grade", NAME]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def finish(folder: Path) -> None:
    """Grade the remaining students, undisturbed."""
    assert not any(outcome.troubles for outcome in ClassRun(CourseDir(folder), NAME).outcomes())


def done(folder: Path) -> int:
    """The number of students with a completion marker."""
    return len(list((folder / "autograded").glob(f"*/{NAME}/.graded.json")))


def kill(folder: Path, *, after: int, seconds: float) -> int:
    """Start a run, kill it `seconds` after `after` students are done, and return how many were done at its end."""
    environment = ENVIRONMENT | {"TMPDIR": tempfile.gettempdir()}
    run = subprocess.Popen(
        [*COMMAND, "--jobs=2"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while done(folder) < after and run.poll() is None:
        time.sleep(0.005)
    time.sleep(seconds)
    run.send_signal(signal.SIGKILL)
    run.wait()
    return done(folder)
