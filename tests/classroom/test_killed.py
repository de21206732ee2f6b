"""A class run that is killed at any moment loses nothing: the next run gives the gradebook of an undisturbed one."""

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.killed_run import finish, kill, run_twice_at_once
from tests.support.small_class import SCORES, ledger, make_slow_class

pytestmark = pytest.mark.slow

SLOW_STUDENTS = 36
STUDENTS = SLOW_STUDENTS + len(SCORES)
KILLS = 5


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with many more students, whose notebooks take a moment each."""
    return make_slow_class(tmp_path_factory.mktemp("killed") / "course", SLOW_STUDENTS, seconds=0.1)


@pytest.fixture(scope="module")
def undisturbed(ungraded: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The gradebook of a run that was not killed."""
    folder = shutil.copytree(ungraded, tmp_path_factory.mktemp("undisturbed") / "course")
    finish(folder)
    return ledger(folder)


def test_a_killed_run_is_continued(
    ungraded: Path, undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any student is done, and then five times in every part of the class; no student is lost.

    In the end the folders that student code wrote into are gone, also those of the killed runs.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = shutil.copytree(ungraded, tmp_path / "course")
    moments = random.Random(0)
    counts = [kill(folder, after=0, seconds=0.2 * moments.random())]
    assert counts == [0]
    for number in range(KILLS):
        # At least one more than before, and each kill in its own part of the class.
        after = max(counts[-1] + 1, number * STUDENTS // KILLS + 1)
        counts.append(kill(folder, after=after, seconds=0.2 * moments.random()))
        assert counts[-1] >= after
    partly = ledger(folder)
    assert all(entry == undisturbed[student] for student, entry in partly.items())
    finish(folder)
    assert ledger(folder) == undisturbed
    assert not list(folder.rglob("*.new"))
    assert not list(temporary.glob("grader-*"))


def test_two_runs_at_once_do_not_harm_each_other(ungraded: Path, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    """Grading that was started twice gives the same gradebook, at the latest after one more run."""
    folder = shutil.copytree(ungraded, tmp_path / "course")
    run_twice_at_once(folder, tmp_path / "log")
    finish(folder)
    assert ledger(folder) == undisturbed
