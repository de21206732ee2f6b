"""A command that a warm process forks is a process as `python -m` starts it."""

import os
import signal
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.waiting import HANGS

PROBE = """
import os, sys, time
print(sys.argv[1:], os.getcwd(), os.environ.get("PROBE"), __name__, sys.stdin.read(), os.getpid())
print("to the other stream", file=sys.stderr)
sys.exit(eval(sys.argv[1]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module that says what it was given, and ends as its argument says."""
    (tmp_path / "probe.py").write_text(PROBE)
    return tmp_path


def test_a_command_has_its_own_arguments_folder_environment_and_streams(folder: Path) -> None:
    """Another one after it finds nothing of these."""
    (folder / "inner").mkdir()
    first = warm.run(["probe", "3", "more"], folder, {"PROBE": "here"})
    second = warm.run(["probe", "None"], folder / "inner", {"PYTHONPATH": str(folder)})
    assert first.stdout.startswith(f"['3', 'more'] {folder} here __main__  ")
    assert second.stdout.startswith(f"['None'] {folder}/inner None __main__  ")
    assert first.stderr == second.stderr == "to the other stream\n"
    assert first.stdout.split()[-1] != second.stdout.split()[-1] and str(os.getpid()) not in first.stdout


@pytest.mark.parametrize(
    ("argument", "status", "words"),
    [("None", 0, ""), ("2", 2, ""), ("'a word'", 1, "a word"), ("1 / 0", 1, "ZeroDivisionError"),
     ("os.kill(os.getpid(), 15)", -15, "")],
)  # fmt: skip
def test_a_command_ends_as_any_program_does(folder: Path, argument: str, status: int, words: str) -> None:
    """With a number, a message, an error or by a signal."""
    done = warm.run(["probe", argument], folder, {})
    assert done.returncode == status and words in done.stderr


def test_an_unknown_module_is_an_error(folder: Path) -> None:
    """As at the command line; the next command runs."""
    done = warm.run(["no_such_module"], folder, {})
    assert done.returncode == 1 and "No module named no_such_module" in done.stderr
    assert warm.run(["probe", "0"], folder, {}).returncode == 0


def test_a_command_can_be_killed(folder: Path) -> None:
    """It runs until then."""
    with open(os.devnull, "r+") as nothing:
        started = warm.start(["probe", "time.sleep(600)"], folder, {}, (nothing.fileno(),) * 3)
    assert started.poll() is None
    started.kill()
    assert started.wait(HANGS) == started.poll() == -signal.SIGKILL
