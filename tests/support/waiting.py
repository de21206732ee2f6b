"""Waits for conditions, so that a slow or busy machine fails no test."""

import time
import urllib.request
from collections.abc import Callable
from functools import cache
from typing import TypeVar

T = TypeVar("T")

HANGS = 600
"""Seconds after which a program that a test waits for counts as hanging: many times what the slowest step needs."""
PAUSE = 0.02
REFERENCE = 0.05
"""Processor seconds that `_work` may take before limits grow. It takes 0.03 on the machine that passes with them."""


def until(condition: Callable[[], T], what: str = "the condition") -> T:
    """Wait until a condition holds, and return what it returned.

    Args:
        condition: returns something true once it holds.
        what: names it, for the failure.
    """
    end = time.monotonic() + HANGS
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come within {HANGS} s"
        time.sleep(PAUSE)
    return found


@cache
def slowness() -> float:
    """Return how many times slower than the reference this machine computes now, at least 1.

    A limit in seconds of processor time is multiplied by it: what is bounded is the work, not the machine.
    """
    return max(1.0, max(_work() for _ in range(3)) / REFERENCE)


def _work() -> float:
    begin = time.process_time()
    sum(number * number % 7 for number in range(600_000))
    return time.process_time() - begin


def answers(address: str) -> bool:
    """Return whether there is a server at an address."""
    try:
        urllib.request.urlopen(address, timeout=HANGS).close()
    except OSError:
        return False
    return True
