"""Decides who marks which answer: an answer is held by one window of one person, for a while.

A window that renews keeps its answer; one that is closed, asleep or forgotten loses it by itself.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A window of a browser, and the name of the person who marks in it."""

    marker: str
    tab: str


@dataclass(frozen=True)
class _Lease:
    window: Window
    until: float


class Leases:
    """The answers that are held; a window holds one at a time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing held.

        Args:
            seconds: how long an answer is held without a renewal.
            clock: returns the time in seconds.
        """
        self._seconds, self._clock = seconds, clock
        self._held: dict[Hashable, _Lease] = {}

    def holder(self, answer: Hashable) -> Window | None:
        """Return the window that holds an answer, or None."""
        lease = self._held.get(answer)
        return lease.window if lease and lease.until > self._clock() else None

    def take(self, answer: Hashable, window: Window) -> Window | None:
        """Hold an answer for a window, and let go of its previous one; return another window that holds it, or None."""
        holder = self.holder(answer)
        if holder not in (None, window):
            return holder
        for each in [each for each, lease in self._held.items() if lease.window == window]:
            del self._held[each]
        self._held[answer] = _Lease(window, self._clock() + self._seconds)
        return None

    def renew(self, window: Window) -> None:
        """Hold what a window holds for longer."""
        for answer, lease in self._held.items():
            if lease.window == window and lease.until > self._clock():
                self._held[answer] = _Lease(window, self._clock() + self._seconds)

    def release(self, window: Window) -> list[Hashable]:
        """Let go of what a window holds, and return it."""
        released = [answer for answer, lease in self._held.items() if lease.window == window]
        for answer in released:
            del self._held[answer]
        return released

    def expired(self) -> list[Hashable]:
        """Return the answers that are no longer held since the last call."""
        ended = [answer for answer, lease in self._held.items() if lease.until <= self._clock()]
        for answer in ended:
            del self._held[answer]
        return ended
