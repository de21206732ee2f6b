"""A class run that is killed at any moment loses nothing: the next ends with the gradebook of an undisturbed one."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from notebooks import answered
from small_class import NAME, REPOSITORY, RIGHT, hand_in, ledger, make_class, released

from course.classroom import Classroom
from course.grading.class_run import ClassRun

STUDENTS = 36
KILLS = 20


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory):
    """A class of many more, whose graders are busy for a moment each."""
    folder = make_class(tmp_path_factory.mktemp("killed") / "course")
    for number in range(STUDENTS):
        slow = f"import time\ntime.sleep(0.1)\ndef two():\n    return 2 - {number} % 2"
        hand_in(folder, f"student{number}", answered(released(folder), **RIGHT | {"two": slow}))
    return folder


@pytest.fixture(scope="module")
def undisturbed(ungraded, tmp_path_factory):
    """The gradebook of a run that nobody killed."""
    folder = shutil.copytree(ungraded, tmp_path_factory.mktemp("undisturbed") / "course")
    finish(folder)
    return ledger(folder)


def finish(folder):
    """Grades, undisturbed, who is left."""
    assert not any(outcome.troubles for outcome in ClassRun(Classroom(folder), NAME).outcomes())


def killed(folder, after):
    """Starts grading and kills it once `after` students are done and a moment has passed; how many were done then.

    Temporary files lie where this process has its own.
    """
    done = lambda: len(list((folder / "autograded").glob(f"*/{NAME}/.graded.json")))  # noqa: E731
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": tempfile.gettempdir()}
    process = subprocess.Popen(
        [sys.executable, "-m", "course", "grade", NAME, "--jobs=2"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while done() < after and process.poll() is None:
        time.sleep(0.005)
    time.sleep(random.random() * 0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return done()


def test_a_killed_run_is_continued(ungraded, undisturbed, tmp_path, monkeypatch):
    """Killed before anyone is done, and then at twenty random moments while going on; whoever is done stays done.

    The folders that student code wrote into are gone in the end, those of the killed runs too.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = shutil.copytree(ungraded, tmp_path / "course")
    finished = [killed(folder, after=0)]
    for _ in range(KILLS):
        finished.append(killed(folder, after=finished[-1] + 1))
    assert finished == sorted(finished) and finished[-1] >= KILLS
    partly = ledger(folder)
    assert all(entry == undisturbed[student] for student, entry in partly.items())
    finish(folder)
    assert ledger(folder) == undisturbed
    assert not list(folder.rglob("*.new"))
    assert not list(temporary.glob("course-grading-*"))


def test_two_runs_at_once_do_not_harm_each_other(ungraded, undisturbed, tmp_path):
    """Somebody who starts grading twice gets the same gradebook, be it with a second run after."""
    folder = shutil.copytree(ungraded, tmp_path / "course")
    command = [sys.executable, "-m", "course", "grade", NAME]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    both = [
        subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        process.communicate()
    finish(folder)
    assert ledger(folder) == undisturbed
