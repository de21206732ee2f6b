"""The time that a submission takes: seconds on the wall, without those in which others had its processor.

What else a machine has to do is no fault of a student's: right code must not time out for it.
"""

import os
import time

SLOWEST = 4
"""How many times a limit may last on the wall at the most; also threads of one's own keep one from the processor."""


class Clock:
    """Counts the seconds of this process and of the one that it works for in turn, while others do not hold them up."""

    def __init__(self) -> None:
        self._own = _Queue(os.getpid())
        self._other = _Queue(0)
        self._earlier = 0.0

    def follow(self, pid: int) -> None:
        """From now on that process is the other one."""
        self._earlier += self._other.waited()
        self._other.close()
        self._other = _Queue(pid)

    def close(self) -> None:
        """Stops counting."""
        self._own.close()
        self._other.close()

    def now(self) -> float:
        """Seconds since some moment in the past."""
        return time.monotonic() - self._own.waited() - self._earlier - self._other.waited()


class Deadline:
    """The moment at which `seconds` of a clock are over, or SLOWEST times as many on the wall."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.now() + seconds
        self._last = time.monotonic() + SLOWEST * seconds

    def moment(self) -> float:
        """The time.monotonic() until which to wait; later it may be a later one, when others took some of the time."""
        return min(time.monotonic() + self._end - self._clock.now(), self._last)

    def is_over(self) -> bool:
        """Whether it has come."""
        return self.moment() <= time.monotonic()


class _Queue:
    """The line in which the first thread of a process waits for its processor."""

    def __init__(self, pid: int) -> None:
        self._waited = 0.0
        try:
            self._file = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # there is no such process, or the kernel does not count
            self._file = -1

    def waited(self) -> float:
        """Seconds that it stood there since the process began; of a process that ended, as many as are known."""
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
