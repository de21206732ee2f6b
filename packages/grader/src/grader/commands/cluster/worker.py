"""Runs in dask's workers: starts the room beside the worker, and hands its requests over.

dask's task --fit, grade--> Room: socket to a process of its own --> answer

Nothing heavy is loaded here, and nothing is decoded: a worker need not know what it carries.

A dask worker is a daemon, which may not have children of multiprocessing, and its tasks run in threads, in which no
page can be stopped. The room is a program of its own, so it may have both.
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

PLUGIN = "grader"
START = """
import contextlib, sys
sys.path[:] = {paths!r}
from grader.errors import GraderError
from grader.engine.supervisor import forkserver
forkserver.skip_slow_imports()
with contextlib.suppress(GraderError):
    forkserver.prepare({packages!r})
from grader.commands.cluster.room import main
main({descriptor}, {threads})
"""
"""The program of a room. It finds modules where the worker does, and not in the folder in which it happens to start.

The fork server loads torch while the room loads nbgrader. A package that is missing is named when the room is asked.
"""


class RoomLost(Exception):
    """The process that grades on this worker ended while it was needed."""


class Room:
    """The worker's end of a room."""

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
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment
            )
        self._connection = Connection(ours.detach())
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self.is_over = False
        threading.Thread(target=self._receive, daemon=True).start()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Send a request and wait for its answer; raise RoomLost if the process ends."""
        answer: Future[Any] = Future()
        with self._lock:
            if self.is_over:
                raise RoomLost("the process that grades has ended")
            number = next(self._numbers)
            self._waiting[number] = answer
            with suppress(OSError):  # the receiving thread finds out, too
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
            answer.set_exception(RoomLost("the process that grades has ended"))


_room: Room | None = None
_starting = threading.Lock()


def room(threads: int, helper_packages: tuple[str, ...] = ()) -> Room:
    """Return this worker's room, which is started if there is none."""
    global _room
    with _starting:
        if _room is None or _room.is_over:
            _room = Room(threads, helper_packages)
        return _room


def fit(needs: bytes, helper_packages: tuple[str, ...], lesson: bytes = b"") -> str:
    """Make this worker ready; a task of dask.

    Args:
        needs: what it must have, encoded.
        helper_packages: packages that notebooks import.
        lesson: the assignment that it will grade, packed.

    Returns:
        Why it cannot grade, in words; '' if it can.
    """
    here = room(get_worker().state.nthreads, helper_packages)
    words: str = here.ask("fit", needs)
    return words or (here.ask("begin", lesson) if lesson else "")


def grade(task: bytes) -> bytes:
    """Grade one submission; a task of dask, from an encoded Task to an encoded Reply.

    Returns:
        The reply; nothing if this worker has no room, or one that does not know the assignment.
    """
    here = _room
    if here is None or here.is_over:
        return b""
    reply: bytes = here.ask("grade", task)
    return reply


class GraderPlugin(WorkerPlugin):
    """Starts the room of each worker, those that come later too, so that no class waits for it."""

    idempotent = True
    name = PLUGIN

    def __init__(self, needs: bytes, helper_packages: tuple[str, ...]) -> None:
        self._needs, self._helper_packages = needs, helper_packages

    def setup(self, worker: Worker) -> None:
        """Start the room; whether it can grade is asked by those who need it."""
        here = room(worker.state.nthreads, self._helper_packages)
        threading.Thread(target=self._prepare, args=(here,), daemon=True).start()

    def teardown(self, worker: Worker) -> None:
        """End the room."""
        if _room is not None:
            _room.end()

    def _prepare(self, here: Room) -> None:
        with suppress(RoomLost):
            here.ask("fit", self._needs)
