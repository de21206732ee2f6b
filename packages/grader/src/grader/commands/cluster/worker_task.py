"""Runs in dask's workers: starts a grading process beside the worker, and passes requests to it.

dask's task --prepare, grade--> GradingProcessHandle: socket to a process of its own --> answer

A worker loads no heavy module and decodes no message.

A dask worker is a daemon, which may not start processes with multiprocessing, and its tasks run in threads, which
cannot interrupt the rendering of a page. The grading process is a separate program and has neither restriction.
"""

import itertools
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

START = """
import contextlib, sys
sys.path[:] = {paths!r}
from grader.errors import GraderError
from grader.engine.supervisor import forkserver
forkserver.skip_slow_imports()
with contextlib.suppress(GraderError):
    forkserver.prepare({packages!r})
from grader.commands.cluster.process import main
main({descriptor}, {threads})
"""
"""The program of a grading process. It has the worker's search path, without the current folder.

The fork server loads torch while the process loads nbgrader. `prepare` reports a missing package later.
"""


class ProcessLost(Exception):
    """The grading process of this worker ended while it was needed."""


class GradingProcessHandle:
    """The worker's end of the connection to a grading process."""

    def __init__(self, threads: int, helper_packages: tuple[str, ...]) -> None:
        ours, theirs = socket.socketpair()
        code = START.format(
            paths=[path for path in sys.path if path],
            packages=helper_packages,
            descriptor=theirs.fileno(),
            threads=threads,
        )
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with theirs:
            command, passed = [sys.executable, "-c", code], [theirs.fileno()]
            self._process = subprocess.Popen(command, pass_fds=passed, stdin=subprocess.DEVNULL, env=environment)
        self._connection = Connection(ours.detach())
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self.is_over = False
        threading.Thread(target=self._receive, daemon=True).start()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Send a request and wait for its answer; raise ProcessLost if the process ends."""
        answer: Future[Any] = Future()
        with self._lock:
            if self.is_over:
                raise ProcessLost("the grading process has ended")
            number = next(self._numbers)
            self._waiting[number] = answer
            with suppress(OSError):  # the receiving thread notices it, too
                self._connection.send((number, name, *arguments))
        return answer.result()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _receive(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, value = self._connection.recv()
                self._waiting.pop(number).set_result(value)
        with self._lock:
            self.is_over = True
        self.end()
        for answer in self._waiting.values():
            answer.set_exception(ProcessLost("the grading process has ended"))


_process_handle: GradingProcessHandle | None = None
_starting = threading.Lock()


def grading_process(threads: int, helper_packages: tuple[str, ...] = ()) -> GradingProcessHandle:
    """Return this worker's grading process, and start it if necessary."""
    global _process_handle
    with _starting:
        if _process_handle is None or _process_handle.is_over:
            _process_handle = GradingProcessHandle(threads, helper_packages)
        return _process_handle


def prepare(requirements: bytes, helper_packages: tuple[str, ...], bundle: bytes = b"") -> str:
    """Prepare this worker; a task of dask.

    Args:
        requirements: encoded Requirements.
        helper_packages: packages that notebooks import.
        bundle: the packed assignment.

    Returns:
        The reason why it cannot grade, or ''.
    """
    here = grading_process(get_worker().state.nthreads, helper_packages)
    reason: str = here.ask("prepare", requirements)
    return reason or (here.ask("begin", bundle) if bundle else "")


def grade(task: bytes) -> bytes:
    """Grade one submission; a task of dask, from an encoded Task to an encoded Reply.

    Returns:
        The reply; empty if there is no grading process, or one that does not have the assignment.
    """
    if _process_handle is None or _process_handle.is_over:
        return b""
    reply: bytes = _process_handle.ask("grade", task)
    return reply


class GraderPlugin(WorkerPlugin):
    """Starts the grading process of each worker, including those that join later, so that no class waits for it."""

    idempotent = True
    name = "grader"

    def __init__(self, requirements: bytes, helper_packages: tuple[str, ...]) -> None:
        self._requirements, self._helper_packages = requirements, helper_packages

    def setup(self, worker: Worker) -> None:
        """Start the grading process; a class run asks whether it can grade."""
        here = grading_process(worker.state.nthreads, self._helper_packages)

        def prepare() -> None:
            with suppress(ProcessLost):
                here.ask("prepare", self._requirements)

        threading.Thread(target=prepare, daemon=True).start()

    def teardown(self, worker: Worker) -> None:
        """End the grading process."""
        if _process_handle is not None:
            _process_handle.end()
