"""The gradebook in PostgreSQL: that of SQLite to the last mark, whoever reads, writes or is killed meanwhile."""

import random
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.commands.cluster.dask_cluster import DaskCluster, Run
from tests.support.killed_run import finish, kill, run_twice_at_once
from tests.support.postgres import Postgres
from tests.support.small_class import SCORES, grade_class, ledger, make_slow_class

pytestmark = pytest.mark.slow

SLOW_STUDENTS = 14
STUDENTS = SLOW_STUDENTS + len(SCORES)


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class whose notebooks take a moment each."""
    return make_slow_class(tmp_path_factory.mktemp("postgres") / "course", SLOW_STUDENTS, seconds=0.1)


@pytest.fixture(scope="module")
def in_sqlite(ungraded: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The gradebook of that class in SQLite."""
    folder = shutil.copytree(ungraded, tmp_path_factory.mktemp("sqlite") / "course")
    finish(folder)
    return ledger(folder)


@pytest.fixture
def folder(database: Postgres, ungraded: Path, tmp_path: Path) -> Path:
    """The class with an empty gradebook in PostgreSQL."""
    folder = shutil.copytree(ungraded, tmp_path / "course", ignore=shutil.ignore_patterns("gradebook.db"))
    url = database.new_database(tmp_path.name)
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    return folder


def test_a_second_run_grades_nobody(folder: Path, in_sqlite: dict[str, Any]) -> None:
    """And both leave the gradebook that SQLite has."""
    assert len(grade_class(folder)) == STUDENTS
    assert grade_class(folder) == []
    assert ledger(folder) == in_sqlite and not (folder / "gradebook.db").exists()


def test_two_runs_at_once_do_not_harm_each_other(folder: Path, in_sqlite: dict[str, Any], tmp_path: Path) -> None:
    """Both add the same students at the same time. The second one finds them there, at the latest in one more run."""
    errors = run_twice_at_once(folder, tmp_path / "log")
    # nbgrader logs the statement that came second with its traceback, before the grader says a sentence.
    errors = re.sub(r"(?ms)Rolling back session.*?(?=^grader: )", "", errors)
    assert "Traceback" not in errors
    finish(folder)
    assert ledger(folder) == in_sqlite


def test_a_killed_run_is_continued(folder: Path, in_sqlite: dict[str, Any]) -> None:
    """Each student's marks are there completely or not at all."""
    moments = random.Random(0)
    for after in (0, 4, 10):
        assert kill(folder, after=after, seconds=0.2 * moments.random()) >= after
    assert ledger(folder).items() <= in_sqlite.items()
    finish(folder)
    assert ledger(folder) == in_sqlite


def test_whoever_reads_meanwhile_sees_whole_students(folder: Path, in_sqlite: dict[str, Any]) -> None:
    """As the formgrader does: neither waits for the other, and no student has half of the marks."""
    seen: list[dict[str, Any]] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.append(ledger(folder))

    assert grade_class(folder, only=["ann"]) == ["ann"]
    reader = threading.Thread(target=read)
    reader.start()
    try:
        finish(folder)
    finally:
        is_over.set()
        reader.join()
    assert len({len(entries) for entries in seen}) > 2
    assert all(entries.items() <= in_sqlite.items() for entries in seen)
    assert ledger(folder) == in_sqlite


def test_a_cluster_that_loses_workers_twice_gives_the_same_gradebook(
    folder: Path, in_sqlite: dict[str, Any], tmp_path: Path
) -> None:
    """Of two workers one is killed, and then the one in its place."""
    (tmp_path / "cluster").mkdir()
    cluster = DaskCluster(tmp_path / "cluster")
    try:
        workers = [cluster.add_worker(), cluster.add_worker()]
        running = Run(cluster, folder).some(2)
        workers[0].kill()
        another = cluster.add_worker()
        running.some(4)
        another.kill()
        assert running.all().errors == {}
    finally:
        cluster.end()
    assert ledger(folder) == in_sqlite
