"""Limits the CPU time of a block of code in this process: rendering hostile HTML can take minutes."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

REPEAT_SECONDS = 0.1
"""CPU seconds until the exception is raised again: Python ignores exceptions in destructors."""


class CpuLimitExceeded(BaseException):
    """The block used up its CPU time. A BaseException, because libraries catch Exception and carry on."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise CpuLimitExceeded in the block once this process has used `seconds` of CPU time in all its threads.

    Python delivers signals to the main thread only, so other threads have no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: Any) -> None:
        raise CpuLimitExceeded

    previous_handler = signal.signal(signal.SIGVTALRM, give_up)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds, REPEAT_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        # A last signal may have interrupted the line that stops the timer, so stop it again.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous_handler)
