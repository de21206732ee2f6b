"""A class graded on a cluster has the gradebook of one machine, whatever happens to its workers."""

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from traitlets import TraitError
from traitlets.config import Config

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page.page_maker import StudentResult
from grader.commands.cluster.dask_graders import Cluster, DaskGraders
from grader.commands.cluster.entry import set_up
from grader.errors import GraderError
from tests.commands.cluster.dask_cluster import DaskCluster, Run, dask_cluster
from tests.support.paths import IMPORTED_FROM, REPOSITORY
from tests.support.small_class import (
    NAME,
    SCORES,
    grade_class,
    hand_in,
    ledger,
    make_class,
    make_slow_class,
    points,
    run,
)

pytestmark = pytest.mark.slow

SLOW_STUDENTS = 7
HANGING = 15
"""Seconds after which a worker counts as hanging. A student of these takes one or two on an idle machine."""
RECONNECT_SECONDS = 5
"""Seconds to wait for a scheduler or for workers, where there are none; a living one answers in a fraction of that."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler and two workers in a folder without a course."""
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def slow_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with more students, whose notebooks take a moment each."""
    return make_slow_class(tmp_path_factory.mktemp("slow") / "course", SLOW_STUDENTS, seconds=0.2)


@pytest.fixture(scope="module")
def expected(slow_class: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The gradebook of that class from one machine."""
    folder = shutil.copytree(slow_class, tmp_path_factory.mktemp("expected") / "course")
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(folder), NAME).outcomes())
    return ledger(folder)


def test_a_cluster_gives_the_gradebook_of_one_machine(cluster: DaskCluster, graded: Path, tmp_path: Path) -> None:
    """The same marks, comments, notebooks and pages; what is not there is said. Workers are made ready ahead."""
    folder = make_class(tmp_path / "course")
    done = run(folder, "grader", "worker-setup", cluster.address)
    assert done.returncode == 0, done.stderr
    assert [line.rpartition(": ")[2] for line in done.stdout.splitlines()] == ["ready"] * 2
    hand_in(folder, "gus", None)
    hand_in(folder, "hal", b"{not json")
    finished = Run(cluster, folder).all()
    assert finished.outcomes["gus"].notices == ["small.ipynb was not handed in"]
    assert "small.ipynb is not JSON" in finished.outcomes["hal"].errors[0]
    assert finished.errors.keys() == {"hal"} and finished.notes == []
    entries = ledger(folder)
    assert {entries.pop(student)["score"] for student in ("gus", "hal")} == {0.0}
    assert entries == ledger(graded)
    for student in SCORES.keys() - {"cat"}:  # her copied cell has a new id in each run
        for place in (f"autograded/{student}/{NAME}/small.ipynb", f"feedback/{student}/{NAME}/small.html"):
            assert (folder / place).read_text() == (graded / place).read_text()
    assert Run(cluster, folder).all().outcomes["ann"].reports == {}


def test_what_a_person_marks_counts_whenever_it_is_marked(cluster: DaskCluster, again: Path) -> None:
    """Marks from before the run, and one given while the student is being graded, are kept and stand on the page."""

    def mark(student: str, score: float, comment: str) -> None:
        with CourseDir(again).gradebook() as gradebook:
            grade = gradebook.find_grade("why", "small", NAME, student)
            grade.manual_score, grade.needs_manual_grade = score, False
            gradebook.find_comment("why", "small", NAME, student).manual_comment = comment
            gradebook.db.commit()

    class Marking(DaskGraders):
        def submit(self, assignment: Any, submission: Any, previous: Any) -> Future[StudentResult]:
            given = super().submit(assignment, submission, previous)
            if submission.student == "bob":
                assert not any(cell.manual for cell in previous.scores["small"].cells.values())
                mark("bob", 1.0, "Seen late.")
            return given

    mark("ann", 1.5, "Well put.")
    # A changed limit has all students graded again.
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Limits.cell_seconds = 9\n")
    assert not Run(cluster, again, graders=Marking).all().errors
    entries = ledger(again)
    assert entries["ann"]["grades"]["why"] == (None, 1.5, False) and entries["ann"]["score"] == 9.5
    assert entries["bob"]["grades"]["why"] == (0.0, 1.0, False) and entries["bob"]["score"] == 6.5
    for student, words in (("ann", "Well put."), ("bob", "Seen late.")):
        assert words in (again / "feedback" / student / NAME / "small.html").read_text()


def test_a_late_submission_pays_its_penalty_and_reads_so(cluster: DaskCluster, tmp_path: Path) -> None:
    """Only the driver knows the course's rule for late submissions."""
    folder = make_class(tmp_path / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    (folder / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    assert not Run(cluster, folder).all().errors
    assert ledger(folder)["ann"]["penalties"] == [8.0] and ledger(folder)["dan"]["penalties"] == [None]
    twin = shutil.copytree(folder, tmp_path / "twin", ignore=shutil.ignore_patterns("autograded", "feedback"))
    grade_class(twin, force=True)
    pages = [(each / "feedback" / "ann" / NAME / "small.html").read_text() for each in (folder, twin)]
    assert "because it was handed in late" in pages[0] and pages[0] == pages[1]


def test_a_worker_that_hangs_is_used_no_more(
    cluster: DaskCluster, slow_class: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    """What it was given goes to the other one, and a line says so."""
    folder, hanging = shutil.copytree(slow_class, tmp_path / "course"), cluster.workers[0]
    running = Run(cluster, folder, student_seconds=HANGING).some(2)
    hanging.send_signal(signal.SIGSTOP)
    try:
        running.all()
    finally:
        hanging.send_signal(signal.SIGCONT)
    assert running.errors == {} and ledger(folder) == expected
    assert len(running.notes) == 1 and f"is not used: no answer within {HANGING} s" in running.notes[0]


def test_a_worker_with_other_code_is_refused(cluster: DaskCluster, tmp_path: Path) -> None:
    """In words that say what to do. If there is no other worker, the students are named, and none is marked as done."""
    (tmp_path / "other").mkdir()
    for package in ("grader", "course"):
        shutil.copytree(IMPORTED_FROM[package] / package, tmp_path / "other" / package)
    with (tmp_path / "other" / "grader" / "text.py").open("a") as module:
        module.write("\n# changed\n")
    folder = make_class(tmp_path / "course")
    with dask_cluster(tmp_path / "lonely", PYTHONPATH=str(tmp_path / "other")) as lonely:
        refused = Run(lonely, folder, reconnect_seconds=RECONNECT_SECONDS).all()
        said = dict(set_up(lonely.address, Config(), ("grader_kernel", "course"), sandbox=True))
    words = "it has other files of grader or grader_kernel or course: install the driver's versions on it"
    assert len(refused.notes) == 1 and words in refused.notes[0]
    assert refused.errors.keys() == SCORES.keys()
    assert all(words in error for errors in refused.errors.values() for error in errors)
    assert list(said.values()) == [words]
    assert not list(folder.rglob(".graded.json")) and points(folder) == {}
    assert not Run(cluster, folder).all().errors
    assert points(folder) == SCORES


BROKEN = """
import sys
if "grader.commands.cluster.process" in "".join(sys.orig_argv):
    from grader.commands.cluster.messages import Reply
    Reply.of = classmethod(lambda cls, task, result: cls(task.student, task.digest, notices=["was not handed in"]))
"""


def test_a_worker_that_loses_notebooks_gives_no_student_zero_points(tmp_path: Path) -> None:
    """Its code is right, but it answers as if nothing had been handed in. No student is marked as done."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sitecustomize.py").write_text(BROKEN)
    folder = make_class(tmp_path / "course")
    with dask_cluster(tmp_path / "broken", workers=0) as broken:
        broken.add_worker(PYTHONPATH=f"{tmp_path / 'broken'}:{REPOSITORY}")
        answered_by_it = Run(broken, folder).all()
    assert answered_by_it.errors == dict.fromkeys(
        SCORES, ["could not be graded (BadReply: it says nothing of small, at the last of 3 attempts)"]
    )
    assert not list(folder.rglob(".graded.json")) and points(folder) == {}


def test_processes_that_grade_and_workers_may_be_killed(
    cluster: DaskCluster, slow_class: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    """A worker starts another process. One worker is lost in the middle of its work, and so is the one in its place."""
    folder = shutil.copytree(slow_class, tmp_path / "course")
    running = Run(cluster, folder).some(2)
    children = Path(f"/proc/{cluster.workers[1].pid}/task/{cluster.workers[1].pid}/children")
    processes = [pid for task in children.parents[1].iterdir() for pid in (task / "children").read_text().split()]
    (process,) = [pid for pid in processes if "cluster.process" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(int(process), signal.SIGKILL)
    running.some(2)
    cluster.workers[0].kill()
    another = cluster.add_worker()
    running.some(3)
    another.kill()
    assert running.all().errors == {} and ledger(folder) == expected


def test_a_scheduler_may_be_started_again(
    cluster: DaskCluster, slow_class: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    """With workers of its own; the run goes on."""
    folder = shutil.copytree(slow_class, tmp_path / "course")
    running = Run(cluster, folder).some(2)
    assert cluster.scheduler is not None
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    cluster.start_scheduler()
    cluster.workers = [cluster.add_worker()]
    assert running.all().errors == {} and ledger(folder) == expected


def test_without_a_scheduler_the_rest_is_named(
    cluster: DaskCluster, slow_class: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    """The run ends, and the next one on this machine grades whoever is not done."""
    folder = shutil.copytree(slow_class, tmp_path / "course")
    running = Run(cluster, folder, reconnect_seconds=RECONNECT_SECONDS).some(2)
    assert cluster.scheduler is not None
    cluster.scheduler.kill()
    running.all()
    assert len(running.outcomes) == SLOW_STUDENTS + len(SCORES) and running.errors
    assert all("no scheduler answers at" in words[0] for words in running.errors.values())
    done = {path.parts[-3] for path in folder.rglob(".graded.json")}
    assert done == running.outcomes.keys() - running.errors.keys() == ledger(folder).keys()
    graded = {outcome.student for outcome in ClassRun(CourseDir(folder), NAME).outcomes() if outcome.reports}
    assert graded == running.errors.keys() and ledger(folder) == expected


def test_workers_on_this_machine(graded: Path, tmp_path: Path) -> None:
    """`--scheduler local:1` is the command as an instructor types it."""
    folder = make_class(tmp_path / "course")
    done = run(folder, "grader", "grade", NAME, "--scheduler", "local:1")
    assert done.returncode == 0 and done.stderr == "" and "8 / 8" in done.stdout
    assert ledger(folder) == ledger(graded)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9 within 1 s"),
        ("localhost:8786", "as tcp://HOST:PORT, or local:N"),
        ("local:0", "as tcp://HOST:PORT, or local:N"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(tmp_path: Path, address: str, words: str) -> None:
    """In one line, before anything is written."""
    with pytest.raises(GraderError, match=words):
        DaskGraders(address, Config(Cluster={"reconnect_seconds": 1}), print)


def test_settings_may_have_the_names_of_an_earlier_version() -> None:
    """Where a setting has both names, the current one counts; a misspelt one is refused."""
    assert Cluster(Config()).reconnect_seconds == 60
    assert Cluster(Config(Cluster={"patience": 5})).reconnect_seconds == 5
    assert Cluster(Config(Cluster={"patience": 5, "reconnect_seconds": 7})).reconnect_seconds == 7
    with pytest.raises(TraitError, match=r"no c.Cluster.patient: use one of reconnect_seconds, student_seconds"):
        Cluster(Config(Cluster={"patient": 5}))
