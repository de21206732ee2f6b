"""Grades on one worker: threads grade, and the main thread makes texts and pages, as in a class run on one machine.

worker --socket: fit, begin, grade--> room: threads, fork server, runners, sandboxes --> Reply

The worker starts this process with the other end of a socket, and it ends with that socket.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from grader.classroom.page.page_maker import PageMaker, StudentResult
from grader.classroom.student import Submission, grade_submission
from grader.commands.cluster.processors import own_processors
from grader.commands.cluster.wire import Lesson, Reply, Task, decoded_needs, decoded_task, encoded, key_of, unpacked
from grader.engine.sandbox import confinement
from grader.engine.supervisor import forkserver, pool
from grader.engine.supervisor.parsers import parse
from grader.engine.supervisor.scratch import Scratch
from grader.errors import GraderError, SandboxUnavailable, UnreadableFile

MAX_LESSONS = 4
"""Assignments that a room keeps ready: several drivers may use a cluster."""
EMPTY = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


class Room:
    """The main loop of the process. A request is (number, name, arguments), an answer (number, value)."""

    def __init__(self, worker: Connection, threads: int) -> None:
        self._worker = worker
        self._threads = ThreadPoolExecutor(threads)
        self._messages: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._lessons: dict[str, tuple[Lesson, PageMaker]] = {}
        pool.prefer(own_processors(threads))

    def run(self) -> None:
        """Serve the worker until its process ends."""
        threading.Thread(target=self._receive, daemon=True).start()
        answers: dict[str, Callable[..., str | bytes | None]] = {
            "fit": fit,
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
        if key not in self._lessons:
            try:
                lesson = unpacked(data)
                pages = PageMaker(lesson.config, lesson.notebooks)
                pages.warm_up(lesson.assignment.sources)
            except Exception as error:
                return f"it cannot take the assignment ({type(error).__name__}: {error})"
            if len(self._lessons) >= MAX_LESSONS:
                del self._lessons[next(iter(self._lessons))]
            self._lessons[key] = lesson, pages
        return ""

    def _grade(self, number: int, data: bytes) -> None:
        task = decoded_task(data)
        found = self._lessons.get(task.lesson)
        if found is None:
            self._worker.send((number, b""))
        else:
            self._threads.submit(self._graded, number, task, *found)

    def _graded(self, number: int, task: Task, lesson: Lesson, pages: PageMaker) -> None:
        """Grade in one of the threads."""
        result: StudentResult | Exception
        try:
            submission = Submission(task.student, task.digest, task.notebooks)
            result = grade_submission(lesson.assignment, submission)
        except Exception as error:
            result = error
        self._messages.put((number, "graded", task, pages, result))

    def _reply(self, number: int, task: Task, pages: PageMaker, result: StudentResult | Exception) -> bytes:
        """Finish in the main thread."""
        try:
            if isinstance(result, Exception):
                raise result
            pages.finish(result)
            pages.predict(result, task.earlier)
            return encoded(Reply.of(task, result))
        except Exception as error:
            words, is_unfit = f"{type(error).__name__}: {error}", isinstance(error, SandboxUnavailable)
            return encoded(Reply(task.student, task.digest, error=words, is_unfit=is_unfit))


def fit(number: int, data: bytes) -> str:
    """Return in words why this process cannot grade as the driver would; '' if it can."""
    needs = decoded_needs(data)
    try:
        if missing := needs.missing():
            return missing
        if needs.sandbox:
            confinement.check()
        Scratch().remove()
        forkserver.prepare(needs.helper_packages)
        parse(EMPTY, "")
    except UnreadableFile:
        return "it cannot start processes: look at its log"
    except GraderError as error:
        return str(error)
    except OSError as error:
        return f"it has no room for scratch files ({error}): name a folder for them in TMPDIR"
    return ""


def main(descriptor: int, threads: int) -> None:
    """Run a room whose socket is a descriptor of this process."""
    Room(Connection(descriptor), threads).run()
