"""Starts a real scheduler of dask with real workers on this machine, and runs a class there."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from traitlets.config import Config

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page.page_maker import StudentResult
from grader.commands.cluster.connect import Connection
from grader.commands.cluster.dask_graders import DaskGraders
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME
from tests.support.waiting import HANGS, until


class DaskCluster:
    """A scheduler and workers, each a process of its own, in a folder that has no course."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self._environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}
        self._file = folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.start_scheduler()

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        address: str = json.loads(self._file.read_text())["address"]
        return address

    def start_scheduler(self) -> None:
        """Start the scheduler, for the second time where it was before."""
        port = self.address.rpartition(":")[2] if self.scheduler else "0"
        self._file.unlink(missing_ok=True)
        self.scheduler = self._started(
            "scheduler", "--host=127.0.0.1", f"--port={port}", f"--scheduler-file={self._file}", "--no-dashboard"
        )
        until(self._is_written, "the scheduler")

    def _is_written(self) -> bool:
        # The scheduler makes the file a moment before it writes into it.
        return self._file.exists() and self._file.read_text().endswith("}")

    def add_worker(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread and return its process, which dask does not start again."""
        options = ("--nthreads=1", "--no-nanny", "--no-dashboard", f"--local-directory={self.folder}", *options)
        return self._started("worker", self.address, *options, **environment)

    def await_workers(self, count: int) -> None:
        """Wait until the scheduler has so many workers: a run with little patience needs them at its start."""
        connection = Connection(self.address, HANGS)
        until(lambda: len(connection.threads()) == count, f"{count} workers")
        connection.close()

    def end(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _started(self, program: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options]
        log = (self.folder / f"{program}.log").open("ab")
        process = subprocess.Popen(
            command, cwd=self.folder, env=self._environment | environment, stdout=log, stderr=log
        )
        log.close()
        self._processes.append(process)
        return process


@contextmanager
def dask_cluster(folder: Path, workers: int = 1, **environment: str) -> Iterator[DaskCluster]:
    """Start a scheduler with workers, and end all of them."""
    folder.mkdir(exist_ok=True)
    cluster = DaskCluster(folder, **environment)
    try:
        cluster.workers = [cluster.add_worker() for _ in range(workers)]
        cluster.await_workers(workers)
        yield cluster
    finally:
        cluster.end()


class Run:
    """A class run on a cluster, result by result."""

    def __init__(
        self, cluster: DaskCluster | str, folder: Path, *, graders: type[DaskGraders] = DaskGraders, **settings: int
    ) -> None:
        course_dir = CourseDir(folder)
        course_dir.config.merge(Config(Cluster=settings))
        self.notes: list[str] = []
        address = cluster if isinstance(cluster, str) else cluster.address
        self.graders = graders(address, course_dir.config, self.notes.append)
        self._outcomes = ClassRun(course_dir, NAME).outcomes(self.graders)
        self.outcomes: dict[str, StudentResult] = {}

    def some(self, count: int) -> "Run":
        """Wait for the results of some students."""
        for _ in range(count):
            outcome = next(self._outcomes)
            self.outcomes[outcome.student] = outcome
        return self

    def all(self) -> "Run":
        """Wait for all."""
        self.outcomes |= {outcome.student: outcome for outcome in self._outcomes}
        return self

    @property
    def errors(self) -> dict[str, list[str]]:
        """The errors of each student who could not be graded."""
        return {student: each.errors for student, each in self.outcomes.items() if each.errors}
