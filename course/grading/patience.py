"""A bound on computing in this process: some text takes an HTML library minutes, and a class waits for its writer."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN_SECONDS = 0.1
"""How soon it is said again: what is raised while Python lets an object go is lost."""


class OutOfPatience(BaseException):
    """What was to be computed took too long; a BaseException, for libraries go on after an Exception."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises OutOfPatience in the block once this process has computed for `seconds`, other threads included.

    Python's signals come to the main thread; in another one there is no bound.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: Any) -> None:
        raise OutOfPatience

    before = signal.signal(signal.SIGVTALRM, give_up)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        # Once more: the last signal may have come before the timer stood still.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
