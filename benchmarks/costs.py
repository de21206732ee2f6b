"""Measures what a submission costs each part of a class run on a cluster: the inputs of benchmarks/model.py.

    course folder --a fresh process grades its class, one student after the other--> Sample
    calls without work, as large as tasks and replies --dask.distributed--> Sending

Costs are processor seconds, so that what else the machine does hardly changes them. As a program, it prints a sample as
JSON.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import psutil

from benchmarks.classes import ASSIGNMENT, REPOSITORY, environment

TOGETHER = 16
"""Students in the large transactions of a sample: the number that a class run writes at once."""
CALLS = 320


@dataclass(frozen=True)
class Transaction:
    """One transaction of a gradebook: students in it, SQL statements, processor seconds, and seconds beyond them."""

    students: int
    statements: int
    seconds: float
    waited: float


@dataclass(frozen=True)
class Sample:
    """Measurements from grading a class, in processor seconds; a list has one entry for each student.

    `driver_start` is what a process needs until it can grade, `worker_start` what the processes that it starts need.
    `read` is reading and encoding a submission, `check` decoding and checking a reply, `files` writing a student's
    files.
    """

    driver_start: float = 0.0
    worker_start: float = 0.0
    source_bytes: int = 0
    grading: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    check: list[float] = field(default_factory=list)
    files: list[float] = field(default_factory=list)
    task_bytes: list[int] = field(default_factory=list)
    reply_bytes: list[int] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)

    def transaction(self) -> tuple[float, float]:
        """Return the processor seconds of a transaction: for no student, and for each further one."""
        return _line([(each.students, each.seconds) for each in self.transactions])

    def statements(self) -> tuple[float, float]:
        """Return the SQL statements of a transaction: for no student, and for each further one."""
        return _line([(each.students, each.statements) for each in self.transactions])

    def commit(self) -> float:
        """Return the seconds that a transaction waits for the disk: the least, as others also wait for a processor."""
        return min(each.waited for each in self.transactions)


@dataclass(frozen=True)
class Sending:
    """Processor seconds of a call without work, in the driver and in the scheduler."""

    driver: float
    scheduler: float


def sample(folder: Path) -> Sample:
    """Grade the class of a course folder in a fresh process and return the measurements."""
    command = [sys.executable, "-m", "benchmarks.costs", str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment(), check=True, stdout=subprocess.PIPE, text=True)
    values = json.loads(done.stdout)
    return Sample(**values | {"transactions": [Transaction(**each) for each in values["transactions"]]})


def sending(task_bytes: int, reply_bytes: int) -> Sending:
    """Call a function that does nothing on a worker, with a scheduler and a worker in processes of their own.

    Args:
        task_bytes: the size of what is sent.
        reply_bytes: the size of what returns.
    """
    from distributed import Client, as_completed  # not in the process of a sample, whose start-up is measured
    from distributed.deploy.subprocess import SubprocessCluster

    with (
        SubprocessCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        task = bytes(task_bytes)
        client.submit(_reply, task, reply_bytes, pure=False).result()
        before = time.process_time(), client.run_on_scheduler(time.process_time)
        for _ in range(CALLS // TOGETHER):
            calls = [client.submit(_reply, task, reply_bytes, pure=False) for _ in range(TOGETHER)]
            for call in as_completed(calls):
                call.result()
        after = time.process_time(), client.run_on_scheduler(time.process_time)
    done = CALLS // TOGETHER * TOGETHER
    return Sending(*((end - begin) / done for begin, end in zip(before, after, strict=True)))


def watching(under_way: int = 4000, rounds: int = 20) -> float:
    """Return the processor seconds in which the driver looks after one submission, each time a result arrives."""
    futures = [Future[None]() for _ in range(under_way)]
    futures[-1].set_result(None)
    begin = time.thread_time()
    for _ in range(rounds):
        wait(futures, return_when=FIRST_COMPLETED)
        assert [future for future in futures if future.done()] == futures[-1:]
    return (time.thread_time() - begin) / rounds / under_way


def _reply(task: bytes, reply_bytes: int) -> bytes:
    return bytes(reply_bytes)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return the constant and the slope of the line through the means at the fewest and the most students."""
    few, many = min(x for x, _ in points), max(x for x, _ in points)
    low, high = (mean(y for x, y in points if x == end) for end in (few, many))
    slope = (high - low) / (many - few) if many > few else low / few
    return max(low - few * slope, 0.0), slope


class _Transactions:
    """Listens to all sessions of SQLAlchemy in this process."""

    def __init__(self) -> None:
        from sqlalchemy import Engine, event
        from sqlalchemy.orm import Session

        self.statements = 0
        self.seconds = self.waited = 0.0
        event.listen(Session, "after_begin", self._begin)
        event.listen(Session, "after_commit", self._commit)
        event.listen(Engine, "before_cursor_execute", self._statement)

    def _begin(self, *_: Any) -> None:
        self.statements, self._clocks = 0, (time.thread_time(), time.perf_counter())

    def _statement(self, *_: Any) -> None:
        self.statements += 1

    def _commit(self, *_: Any) -> None:
        self.seconds = time.thread_time() - self._clocks[0]
        self.waited = time.perf_counter() - self._clocks[1] - self.seconds


@contextmanager
def _timed(seconds: list[float], clock: Callable[[], float] = time.thread_time) -> Iterator[None]:
    begin = clock()
    yield
    seconds.append(clock() - begin)


def processor_seconds(process: psutil.Process) -> float:
    """Return the processor seconds of a process and its descendants."""
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has ended, and its parent's times hold its own
            total += sum(each.cpu_times()[:4])
    return total


def measure(folder: Path) -> Sample:
    """Grade a class in this process, which must have done nothing else, and return the costs.

    Args:
        folder: a course folder, of which nothing has been graded. The first student is graded for the start-up.
    """
    from grader.classroom.config import helper_packages, load_config
    from grader.engine.supervisor import forkserver

    forkserver.prepare(helper_packages(load_config(folder)))

    from grader.classroom.course_dir import CourseDir
    from grader.classroom.page.page_maker import PageMaker, page_config
    from grader.classroom.release import register
    from grader.classroom.results import ResultWriter
    from grader.classroom.student import grade_submission, load_assignment, read_submission
    from grader.commands.cluster.messages import AssignmentBundle, Reply, Task, decoded_reply, encoded

    course_dir = CourseDir(folder)
    assignment = load_assignment(course_dir, ASSIGNMENT, sandbox=True)
    register(course_dir, ASSIGNMENT)
    first, *students = course_dir.students(ASSIGNMENT)
    transactions, group = _Transactions(), []
    with ResultWriter(course_dir, ASSIGNMENT) as writer:
        pages = PageMaker(course_dir.config, writer.notebooks)
        pages.warm_up(assignment.sources)
        own = time.process_time()
        submission = read_submission(assignment, first, course_dir.handed_in(ASSIGNMENT, first))
        result = grade_submission(assignment, submission)
        started = processor_seconds(psutil.Process()) - own
        writer.write([(result, "")])  # SQLAlchemy compiles its statements once
        bundle = AssignmentBundle(assignment, writer.notebooks, page_config(course_dir.config))
        found = Sample(own, source_bytes=len(bundle.packed()))
        for number, student in enumerate(students):
            with _timed(found.read):
                submission = read_submission(assignment, student, course_dir.handed_in(ASSIGNMENT, student))
                previous = writer.previous_scores(student)
                task = Task("", student, submission.digest, submission.notebooks, previous)
                sent = encoded(task)
            found.task_bytes.append(len(sent))
            with _timed(found.grading, partial(processor_seconds, psutil.Process())):
                result = grade_submission(assignment, submission)
            with _timed(found.pages):
                pages.finish(result)
                pages.predict(result, previous)
                sent = encoded(Reply.of(task, result))
            found.reply_bytes.append(len(sent))
            with _timed(found.check):
                group.append((decoded_reply(sent).checked(submission, bundle), ""))
            # As many students alone as together, to tell what a transaction costs and what a student in it.
            if number >= len(students) - TOGETHER and number < len(students) - 1:
                continue
            whole: list[float] = []
            with _timed(whole):
                writer.write(group)
            size = len(group)
            found.files.extend([(whole[0] - transactions.seconds) / size] * size)
            found.transactions.append(
                Transaction(size, transactions.statements, transactions.seconds, transactions.waited)
            )
            group = []
    return replace(found, worker_start=started - mean(found.grading))


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Path(sys.argv[1])))))
