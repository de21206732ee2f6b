"""Measures the time of a submission: wall-clock seconds minus those in which other programs had its processor.

Correct code must not time out because the machine is busy with something else.
"""

import os
import time

SLOWEST = 4
"""Most wall-clock seconds per second of a limit: a process can also wait for its own threads."""


class Clock:
    """Counts the seconds in which neither this process nor the other one, its sandbox, waited for a processor."""

    def __init__(self) -> None:
        self._own = _Queue("self")
        self._other = _Queue("none")
        self._earlier = 0.0

    def follow(self, pid: int) -> None:
        """From now on, subtract the waiting time of the process with this pid instead of the previous one's."""
        self._earlier += self._other.waited()
        self._other.close()
        self._other = _Queue(str(pid))

    def close(self) -> None:
        """Stop counting."""
        self._own.close()
        self._other.close()

    def now(self) -> float:
        """Return the seconds since an arbitrary moment."""
        return time.monotonic() - self._own.waited() - self._earlier - self._other.waited()


class Deadline:
    """The moment at which a time limit is reached.

    Args:
        clock: counts the seconds.
        seconds: the limit; SLOWEST times as many wall-clock seconds end it, too.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.now() + seconds
        self._last = time.monotonic() + SLOWEST * seconds

    def moment(self) -> float:
        """Return the moment as a value of time.monotonic(). It moves while other programs have the processor."""
        return min(time.monotonic() + self._end - self._clock.now(), self._last)

    def is_over(self) -> bool:
        """Return whether the moment has come."""
        return self.moment() <= time.monotonic()


class _Queue:
    """The scheduler's queue, in which the first thread of a process waits for a processor."""

    def __init__(self, process: str) -> None:
        self._waited = 0.0
        try:
            self._file = os.open(f"/proc/{process}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # no such process, or a kernel without these statistics
            self._file = -1

    def waited(self) -> float:
        """Return the seconds that it has waited since the process began, up to the last reading before its end."""
        if self._file >= 0:
            try:
                self._waited = int(os.pread(self._file, 100, 0).split()[1]) / 1e9
            except OSError:
                self.close()
        return self._waited

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
