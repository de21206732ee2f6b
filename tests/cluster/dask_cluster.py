"""Starts a real scheduler of dask with real workers on this machine, as an administrator does."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.paths import REPOSITORY

START_SECONDS = 60


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
        self._wait(self._file.exists)

    def add_worker(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread and return its process, which dask does not start again."""
        options = ("--nthreads=1", "--no-nanny", "--no-dashboard", f"--local-directory={self.folder}", *options)
        return self._started("worker", self.address, *options, **environment)

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

    def _wait(self, is_there: "object") -> None:
        end = time.monotonic() + START_SECONDS
        while not is_there():  # type: ignore[operator]
            assert time.monotonic() < end
            time.sleep(0.05)
