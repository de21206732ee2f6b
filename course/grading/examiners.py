"""Examiners that wait for work. They run nothing of a student's, so one may examine many notebooks.

A fresh fork touches every page of memory for the first time; one that has worked before is twice as fast. An examiner
and its candidate take turns, so both are given the same processor: to wake somebody on another one takes ten times as
long as to switch.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from course.grading import processes

MAX_NOTEBOOKS = 2_000
"""After so many an examiner is let go, so that nothing can pile up in it."""


@dataclass
class Examiner:
    """An examiner's process and our end of the pipe to it."""

    process: BaseProcess
    connection: Connection
    processor: int
    notebooks: int = 0

    def end(self) -> None:
        """Kills the process."""
        processes.end(self.process)
        self.connection.close()
        with _lock:
            _load[self.processor] -= 1


_idle: list[Examiner] = []
_load = Counter({processor: 0 for processor in os.sched_getaffinity(0)})
"""How many examiners there are on each processor that this process may use."""
_lock = threading.Lock()


@contextmanager
def examining(fresh: bool = False) -> Iterator[Examiner]:
    """An examiner for one notebook, on request one that has seen no other.

    Who leaves with an error leaves it in the middle of something: it is ended.
    """
    with _lock:
        one = _idle.pop() if _idle and not fresh else None
    if one is not None and not one.process.is_alive():
        one.end()
        one = None
    one = one or _started()
    try:
        yield one
        one.notebooks += 1
    except BaseException:
        one.end()
        raise
    if one.notebooks >= MAX_NOTEBOOKS:
        one.end()
    else:
        with _lock:
            _idle.append(one)


def dismiss() -> None:
    """Ends those that wait. They end by themselves with this process."""
    while _idle:
        _idle.pop().end()


def _started() -> Examiner:
    with _lock:
        processor = min(_load, key=_load.__getitem__)
        _load[processor] += 1
    ours, theirs = processes.pipe()
    process = processes.start("course.grading.examiner:main", theirs, processor)
    theirs.close()
    return Examiner(process, ours, processor)
