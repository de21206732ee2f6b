"""A run of the tests leaves no process and no file, however it ends."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import run, surroundings
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS, until

ENDLESS = """
import subprocess
import time
import pytest
from grader.engine.supervisor import forkserver

@pytest.mark.parametrize("number", range(4))
def test_starts_all_kinds_of_processes(number):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    forkserver.prepare(needs_torch=False)
    process = forkserver.start("time:sleep", 600)
    time.sleep(600)
"""
WITHOUT_PRCTL = """
from grader.engine.supervisor import forkserver
forkserver.prepare(needs_torch=False)
forkserver.start("builtins:print").join()
"""


def processes(folder: Path) -> list[str]:
    """The processes whose temporary folder is `folder`, with all that they have started; zombies have ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ended = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if f"TMPDIR={folder}".encode() in (process / "environ").read_bytes().split(b"\0") and not ended:
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder for temporary files, by which processes are found."""
    yield tmp_path
    assert processes(tmp_path) == []


def start(folder: Path, test: str, *options: str) -> subprocess.Popen[str]:
    """Start a run of a test module."""
    (folder / "test_one.py").write_text(test)
    command = [sys.executable, "-m", "tests.support.run", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.Popen(
        [*command, "--rootdir", str(folder), str(folder / "test_one.py")],
        cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("moment", range(5))
def test_a_run_that_is_ended_leaves_no_process(folder: Path, number: signal.Signals, moment: int) -> None:
    """At any moment: before pytest starts, while it collects, while tests run."""
    started = start(folder, ENDLESS, "-n", "2")
    time.sleep(moment * (0.5 + random.Random(f"{number} {moment}").random()))
    started.send_signal(number)
    started.communicate(timeout=HANGS)
    until(lambda: not processes(folder), "the end of all processes")


@pytest.mark.slow
def test_a_process_that_a_test_leaves_fails_the_run(folder: Path) -> None:
    """It is named, and ended."""
    left = "import subprocess\ndef test_one():\n    subprocess.Popen(['sleep', '601'], start_new_session=True)\n"
    printed, _ = (started := start(folder, left, "-W", "ignore")).communicate(timeout=HANGS)
    assert started.returncode == 1 and "1 passed" in printed, printed
    assert "left by the tests" in printed and "sleep 601" in printed


def test_a_file_that_tests_leave_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless git ignores it."""
    monkeypatch.setattr(run, "REPOSITORY", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("ignored\n")
    before = run.files()
    (tmp_path / "large").touch()
    (tmp_path / "ignored").touch()
    assert run.files() - before == {"?? large"}


@pytest.mark.slow
def test_no_process_is_left_where_the_kernel_refuses_prctl(folder: Path) -> None:
    """There the kernel cannot end the first process of a namespace with the fork server: there is no namespace."""
    command = surroundings.python_without("prctl", "-c", WITHOUT_PRCTL)
    subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "TMPDIR": str(folder)}, check=True, timeout=HANGS)
    until(lambda: not processes(folder), "the end of all processes")
