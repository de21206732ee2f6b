"""Tests of a group run on one worker, and long groups begin first."""

import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY

TESTS = {
    "conftest.py": 'pytest_plugins = ["tests.support.schedule"]\n',
    "test_shared.py": """
import os
import pytest

@pytest.fixture(scope="module")
def costly():
    print("BUILT", os.environ["PYTEST_XDIST_WORKER"])

@pytest.mark.parametrize("number", range(20))
def test_shared(costly, number):
    pass
""",
    "test_marked.py": """
import os
import pytest
from tests.support.schedule import grouped, last

@grouped("number", range(20), group=lambda number: f"group {number % 2}")
def test_marked(number):
    print("GROUP", number % 2, os.environ["PYTEST_XDIST_WORKER"])

@last
def test_last():
    print("LAST")
""",
}


def run(folder: Path, *options: str) -> list[str]:
    """Run the tests above with two workers; return what they print."""
    for name, source in TESTS.items():
        (folder / name).write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-rP", "-n", "2", "-p", "no:nbval", "--rootdir", str(folder)]
    done = subprocess.run([*command, *options, str(folder)], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0 and "41 passed" in done.stdout, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_what_tests_share_is_built_once(tmp_path: Path) -> None:
    """A module is a group unless its tests are marked."""
    lines = run(tmp_path, "--dist", "loadgroup")
    assert len({line for line in lines if line.startswith("BUILT")}) == 1
    assert len({line for line in lines if line.startswith("GROUP")}) == 2


def test_without_groups_it_would_be_built_by_every_worker(tmp_path: Path) -> None:
    """The test above can fail."""
    lines = run(tmp_path, "--dist", "load")
    assert len({line for line in lines if line.startswith("BUILT")}) == 2
