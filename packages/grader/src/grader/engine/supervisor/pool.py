"""Keeps idle test runners for reuse: they run no student code, so one runner may grade many notebooks.

A fresh fork touches every page of memory for the first time; a runner that has worked before is twice as fast. A runner
and its sandbox take turns, so both run on the same processor: waking a process on another processor takes ten times as
long as switching to it.
"""

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from grader.engine.supervisor import forkserver

MAX_NOTEBOOKS = 2_000
"""Notebooks after which a runner is replaced, so that leaks cannot accumulate."""


@dataclass
class RunnerHandle:
    """A runner's process and the parent's end of the pipe to it."""

    process: BaseProcess
    connection: Connection
    processor: int
    has_torch: bool
    notebooks: int = 0

    def end(self) -> None:
        """Kill the process."""
        forkserver.end(self.process)
        self.connection.close()
        with _lock:
            _load[self.processor] -= 1


_idle: list[RunnerHandle] = []
_load = Counter({processor: 0 for processor in os.sched_getaffinity(0)})
"""Runners on each processor that this process may use."""
_lock = threading.Lock()


@contextmanager
def borrowed_runner(fresh: bool = False) -> Iterator[RunnerHandle]:
    """Yield a runner, a new one if `fresh`. If the block raises, the runner is in an unknown state and is killed."""
    runner = None if fresh else _idle_runner()
    if runner is not None and not runner.process.is_alive():
        runner.end()
        runner = None
    runner = runner or _started_runner()
    try:
        yield runner
        runner.notebooks += 1
    except BaseException:
        runner.end()
        raise
    if runner.notebooks >= MAX_NOTEBOOKS:
        runner.end()
    else:
        with _lock:
            _idle.append(runner)


def side_by_side(jobs: int) -> int:
    """Return how many notebooks to grade at a time: `jobs`, or one per processor if that is fewer or `jobs` is 0."""
    processors = len(os.sched_getaffinity(0))
    return min(jobs, processors) if jobs > 0 else processors


def prefer(processors: Collection[int]) -> None:
    """Start runners on these processors first, if there are any: other programs grade on the others."""
    if processors:
        with _lock:
            _load.update(processor for processor in list(_load) if processor not in processors)


def _idle_runner() -> RunnerHandle | None:
    """Take the idle runner that worked last among those on processors that this thread may use."""
    processors, has_torch = os.sched_getaffinity(0), forkserver.has_torch()
    with _lock:
        suitable = [
            number
            for number, runner in enumerate(_idle)
            if runner.processor in processors and runner.has_torch is has_torch
        ]
        return _idle.pop(suitable[-1]) if suitable else None


def _started_runner() -> RunnerHandle:
    with _lock:
        processor = _next_processor()
        _load[processor] += 1
    parent_end, runner_end = forkserver.pipe()
    has_torch = forkserver.has_torch()
    process = forkserver.start(forkserver.RUNNER, runner_end, processor, with_torch=has_torch)
    runner_end.close()
    return RunnerHandle(process, parent_end, processor, has_torch)


def _next_processor() -> int:
    """Return the least loaded processor that this thread may use, preferring its own among equals.

    Other programs that grade on this machine count only their own runners. If each of them chose the first processor
    among equals, all their runners would share it.
    """
    with open("/proc/thread-self/stat") as stat:
        current = int(stat.read().rpartition(")")[2].split()[36])
    return min(os.sched_getaffinity(0), key=lambda processor: (_load[processor], processor != current))
