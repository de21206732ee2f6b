"""Grades on one worker: threads grade, and the main thread makes notebooks and pages, as in a local class run.

worker --socket: prepare, begin, grade--> threads, fork server, runners, sandboxes --> Reply

The worker starts this process with the other end of a socket. The process ends when the socket closes.
"""

import os
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from grader.classroom.page.page_maker import PageMaker, StudentResult
from grader.classroom.student import Submission, grade_submission
from grader.commands.cluster.messages import (
    AssignmentBundle,
    Reply,
    Task,
    decoded_requirements,
    decoded_task,
    encoded,
    key_of,
    unpacked,
)
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor import forkserver, pool
from grader.engine.supervisor.parsers import parse
from grader.engine.supervisor.scratch import Scratch
from grader.errors import GraderError, SandboxUnavailable, UnreadableFile
from grader.files import locked

MAX_BUNDLES = 4
"""Assignments kept ready, because several drivers may use a cluster."""
EMPTY = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

_held = ExitStack()


class GradingProcess:
    """The main loop of the process. A request is (number, name, *arguments), an answer (number, value)."""

    def __init__(self, worker: Connection, threads: int) -> None:
        self._worker = worker
        self._threads = ThreadPoolExecutor(threads)
        self._messages: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._bundles: dict[str, tuple[AssignmentBundle, PageMaker]] = {}
        pool.prefer(reserve_cpus(threads))

    def run(self) -> None:
        """Serve the worker until its process ends."""
        threading.Thread(target=self._receive, daemon=True).start()
        answers: dict[str, Callable[..., str | bytes | None]] = {
            "prepare": prepare,
            "begin": self._begin,
            "grade": self._grade,
            "graded": self._reply,
        }
        while True:
            number, name, *arguments = self._messages.get()
            value = answers[name](number, *arguments)
            if value is not None:
                self._worker.send((number, value))

    def _receive(self) -> None:
        try:
            while True:
                self._messages.put(self._worker.recv())
        except (EOFError, OSError):
            os._exit(0)

    def _begin(self, number: int, data: bytes) -> str:
        key = key_of(data)
        if key not in self._bundles:
            try:
                bundle = unpacked(data)
                pages = PageMaker(bundle.config, bundle.notebooks)
                pages.warm_up(bundle.assignment.sources)
            except Exception as error:
                return f"it cannot load the assignment ({type(error).__name__}: {error})"
            if len(self._bundles) >= MAX_BUNDLES:
                del self._bundles[next(iter(self._bundles))]
            self._bundles[key] = bundle, pages
        return ""

    def _grade(self, number: int, data: bytes) -> None:
        task = decoded_task(data)
        found = self._bundles.get(task.bundle)
        if found is None:
            self._worker.send((number, b""))
        else:
            self._threads.submit(self._graded, number, task, *found)

    def _graded(self, number: int, task: Task, bundle: AssignmentBundle, pages: PageMaker) -> None:
        """Grade a submission, in one of the threads."""
        result: StudentResult | Exception
        try:
            submission = Submission(task.student, task.digest, task.notebooks, task.places, files=task.files)
            result = grade_submission(bundle.assignment, submission)
        except Exception as error:
            result = error
        self._messages.put((number, "graded", task, pages, result))

    def _reply(self, number: int, task: Task, pages: PageMaker, result: StudentResult | Exception) -> bytes:
        """Make the pages of a result in the main thread, and return the encoded reply."""
        try:
            if isinstance(result, Exception):
                raise result
            pages.finish(result)
            pages.predict(result, task.previous)
            return encoded(Reply.of(task, result))
        except Exception as error:
            reason, is_unusable = f"{type(error).__name__}: {error}", isinstance(error, SandboxUnavailable)
            return encoded(Reply(task.student, task.digest, error=reason, is_unusable=is_unusable))


def prepare(number: int, data: bytes) -> str:
    """Return why this process cannot grade as the driver would, or ''."""
    requirements = decoded_requirements(data)
    try:
        if missing := requirements.missing():
            return missing
        if requirements.sandbox:
            confinement.check()
        Scratch().remove()
        forkserver.prepare(requirements.helper_packages)
        parse(EMPTY, "")
    except UnreadableFile:
        return "it cannot start processes: look at its log"
    except GraderError as error:
        return str(error)
    except OSError as error:
        return f"it has no room for scratch files ({error}): name a folder for them in TMPDIR"
    return ""


def reserve_cpus(count: int) -> set[int]:
    """Reserve up to `count` processors for the runners of this process, and return their numbers.

    Two grading processes of a machine could otherwise put their runners on the same processor. A lock on a file
    reserves a processor until the process ends.
    """
    folder = Path(tempfile.gettempdir(), f"grader-processors-{os.getuid()}")
    found: set[int] = set()
    with suppress(OSError):  # without locks, processes share processors
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.lstat().st_uid != os.getuid():
            return found
        for processor in sorted(os.sched_getaffinity(0)):
            if len(found) == count:
                break
            with suppress(BlockingIOError):
                _held.enter_context(locked(folder / str(processor)))
                found.add(processor)
    return found


def main(descriptor: int, threads: int) -> None:
    """Run the grading process.

    Args:
        descriptor: the file descriptor of the socket.
        threads: submissions graded at a time.
    """
    GradingProcess(Connection(descriptor), threads).run()
