"""A class run that is killed, started twice or read at any moment loses nothing, with a gradebook in either database.

The next run gives the gradebook of an undisturbed one; PostgreSQL has that of SQLite, to the last mark.
"""

import random
import re
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.killed_run import finish, kill, run_twice_at_once
from tests.support.small_class import SCORES, configure, grade_class, ledger, make_slow_class

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
    """The gradebook of a run that was not killed, in SQLite."""
    folder = shutil.copytree(ungraded, tmp_path_factory.mktemp("undisturbed") / "course")
    finish(folder)
    return ledger(folder)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def folder(request: pytest.FixtureRequest, ungraded: Path, tmp_path: Path) -> Path:
    """The class with an empty gradebook in one database or the other."""
    folder = shutil.copytree(ungraded, tmp_path / "course", ignore=shutil.ignore_patterns("gradebook.db"))
    if request.param == "PostgreSQL":
        url = request.getfixturevalue("database").new_database(tmp_path.name)
        configure(folder, f"c.CourseDirectory.db_url = {url!r}")
    return folder


def test_a_killed_run_is_continued(
    folder: Path, undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any student is done, and then five times in every part of the class; no student is lost.

    In the end the folders that student code wrote into are gone, also those of the killed runs.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    moments = random.Random(0)
    counts = [kill(folder, after=0, seconds=0.2 * moments.random())]
    assert counts == [0]
    for number in range(KILLS):
        # At least one more than before, and each kill in its own part of the class.
        after = max(counts[-1] + 1, number * STUDENTS // KILLS + 1)
        counts.append(kill(folder, after=after, seconds=0.2 * moments.random()))
        assert counts[-1] >= after
    assert ledger(folder).items() <= undisturbed.items()
    finish(folder)
    assert ledger(folder) == undisturbed
    assert not list(folder.rglob("*.new"))
    assert not list(temporary.glob("grader-*"))


def test_two_runs_at_once_do_not_harm_each_other(folder: Path, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    """Both add the same students at the same time. The second one finds them there, at the latest in one more run."""
    errors = run_twice_at_once(folder, tmp_path / "log")
    # nbgrader logs the statement that came second with its traceback, before the grader says a sentence.
    errors = re.sub(r"(?ms)Rolling back session.*?(?=^grader: )", "", errors)
    assert "Traceback" not in errors
    finish(folder)
    assert ledger(folder) == undisturbed


@pytest.mark.parametrize("folder", ["PostgreSQL"], indirect=True)
def test_whoever_reads_meanwhile_sees_whole_students(folder: Path, undisturbed: dict[str, Any]) -> None:
    """As the formgrader does: neither waits for the other, and no student has half of the marks or is graded twice."""
    seen: list[dict[str, Any]] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.append(ledger(folder))

    assert grade_class(folder, only=["ann"]) == ["ann"]
    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert len(grade_class(folder)) == STUDENTS - 1
    finally:
        is_over.set()
        reader.join()
    assert len({len(entries) for entries in seen}) > 2
    assert all(entries.items() <= undisturbed.items() for entries in seen)
    assert ledger(folder) == undisturbed and not (folder / "gradebook.db").exists()
    assert grade_class(folder) == []
