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
from tests.support import warm
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME
from tests.support.waiting import HANGS

COMMAND = ["grader", "grade", NAME]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def finish(folder: Path) -> None:
    """Grade the remaining students, undisturbed."""
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(folder), NAME).outcomes())


def done(folder: Path) -> int:
    """The number of students with a completion marker."""
    return len(list((folder / "autograded").glob(f"*/{NAME}/.graded.json")))


def kill(folder: Path, *, after: int, seconds: float) -> int:
    """Start a run, kill it `seconds` after `after` students are done, and return how many were done at its end.

    If it is to be killed at its start, that is one from nothing.
    """
    environment, command = ENVIRONMENT | {"TMPDIR": tempfile.gettempdir()}, [*COMMAND, "--jobs=2"]
    run: subprocess.Popen[bytes] | warm.Command
    with open(os.devnull, "r+") as nothing:
        if after:
            run = warm.start(command, folder, environment, (nothing.fileno(),) * 3)
        else:
            cold = [sys.executable, "-m", *command]
            run = subprocess.Popen(cold, cwd=folder, env=environment, stdout=nothing, stderr=nothing)
    while done(folder) < after and run.poll() is None:
        time.sleep(0.005)
    time.sleep(seconds)
    run.send_signal(signal.SIGKILL)
    run.wait()
    return done(folder)


def run_twice_at_once(folder: Path, log: Path) -> str:
    """Start two runs at the same time, wait for both, and return what they wrote on standard error, into a log too."""
    with open(os.devnull, "r+") as nothing, log.open("a") as errors:
        streams = (nothing.fileno(), nothing.fileno(), errors.fileno())
        for run in [warm.start(COMMAND, folder, ENVIRONMENT, streams) for _ in range(2)]:
            run.wait(HANGS)
    return log.read_text()
