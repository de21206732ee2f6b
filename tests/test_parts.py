"""`make test` and `make proofs` say what they do, choose their tests, and go on where they were stopped."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY

pytestmark = pytest.mark.slow

QUICK = """
import time
import pytest

def test_quick():
    pass

def test_wrong():
    assert 1 == 2

@pytest.mark.slow
def test_slow():
    pass

def test_hungry():
    begin = time.process_time()
    while time.process_time() < begin + 6:
        pass
"""
ALL_SLOW = "import pytest\npytestmark = pytest.mark.slow\nraise ImportError('read')\n"
STOPPED = """
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(4))
def test_one(number):
    if number == 2 and not pathlib.Path("FOLDER/again").exists():
        os._exit(3)
"""
PLUGINS = ("proof_cache", "selection", "parts", "schedule")


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run the tests of a folder; return the exit status and what was printed."""
    plugins = [f"-ptests.support.{name}" for name in PLUGINS]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-c",
        folder / "pytest.ini",
        "-p",
        "no:nbval",
        *plugins,
        *options,
        folder,
    ]
    done = subprocess.run(list(map(str, command)), cwd=REPOSITORY, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two test modules."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n")
    (tmp_path / "test_quick.py").write_text(QUICK)
    (tmp_path / "test_all_slow.py").write_text(ALL_SLOW)
    return tmp_path


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_prints_its_parts_and_the_first_failure(folder: Path, workers: str) -> None:
    """No dots; a module of slow tests is not even imported; the last line is pytest's."""
    status, printed = run(folder, "-n", workers, "--dist", "loadgroup", "--parts", "-m", "not slow")
    lines = printed.splitlines()
    assert status == 1 and lines[-1].startswith("1 failed, 2 passed")
    [part] = [line for line in lines if line.startswith("units")]
    assert "3 tests" in part and "1 failed" in part and "s, done at 0:" in part
    failure = next(number for number, line in enumerate(lines) if "test_wrong (call)" in line)
    assert failure < lines.index(part) and any("assert 1 == 2" in line for line in lines[: lines.index(part)])


def test_a_test_that_takes_too_long_is_named(folder: Path) -> None:
    """With --budget only; it fails the run."""
    quick = ("-m", "not slow", "-k", "test_hungry", "--parts")
    assert run(folder, *quick)[0] == 0
    status, printed = run(folder, *quick, "--budget")
    assert status == 1 and "too long without the mark `slow`" in printed and "::test_hungry: " in printed


def test_a_run_that_was_stopped_goes_on(folder: Path) -> None:
    """What passed is left out the next time, and after a run to the end all begins from the start."""
    (folder / "test_all_slow.py").unlink()
    (folder / "test_quick.py").write_text(STOPPED.replace("FOLDER", str(folder)))
    options = ("--parts", "--go-on", "-k", "test_one")
    assert run(folder, *options)[0] == 3
    (folder / "again").touch()
    status, printed = run(folder, *options)
    assert status == 0 and "2 passed before the last run was stopped" in printed and "2 passed, 2 deselected" in printed
    status, printed = run(folder, *options)
    assert status == 0 and "4 passed" in printed and "deselected" not in printed
