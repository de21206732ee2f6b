"""Limits the requests of a student, the bytes in memory, the connections and the time of clients.

A silent connection is closed after some seconds, or at once if another needs its place, so a flood of silent
connections keeps no one out.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from traitlets import Integer

from grader.commands.serve.policy import Refusal
from grader.engine.limits import Settings

SMALL_BODY = 64 * 1024
"""Maximum bytes of the body of any request except a hand-in."""
MAX_HEADERS = 16 * 1024


class ServiceLimits(Settings):
    """The limits of the service's clients; `grader.engine.limits.Limits` has those of a submission."""

    requests_per_minute = Integer(120, min=1, help="Requests of one student in a minute.").tag(config=True)
    requests_at_once = Integer(10, min=1, help="Requests of one student at a time.").tag(config=True)
    waiting = Integer(20, min=1, help="Waiting hand-ins of one student.").tag(config=True)
    student_mb = Integer(
        64, min=1,
        help="Mebibytes of all hand-ins of one student that are stored or being received. Graded ones lose their bytes "
        "when later ones need the space, the oldest that do not count first."
    ).tag(config=True)  # fmt: skip
    connections = Integer(1000, min=1, help="Open connections of all clients.").tag(config=True)
    upload_mb = Integer(
        256, min=1,
        help="Mebibytes of all hand-ins being received at a time. Half of them are for students who send only one."
    ).tag(config=True)  # fmt: skip
    header_seconds = Integer(10, min=1, help="Seconds after which an idle connection is closed.").tag(config=True)
    body_seconds = Integer(60, min=1, help="Seconds in which a hand-in must arrive.").tag(config=True)
    wait_seconds = Integer(30, min=1, help="Seconds that a request may wait for a report.").tag(config=True)


class Rates:
    """Counts the requests of each student: a bucket that holds a minute's requests and refills steadily."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._buckets: dict[str, tuple[float, float]] = {}
        self._at_once: dict[str, int] = {}

    @contextmanager
    def request(self, student: str) -> Iterator[None]:
        """Count a request during the block; raise Refusal if the student has too many."""
        self._take(student)
        if self._at_once.get(student, 0) >= self._limits.requests_at_once:
            raise Refusal(429, f"at most {self._limits.requests_at_once} requests are answered at a time", 1)
        self._at_once[student] = self._at_once.get(student, 0) + 1
        try:
            yield
        finally:
            self._at_once[student] -= 1
            if not self._at_once[student]:
                del self._at_once[student]

    def _take(self, student: str) -> None:
        full = float(self._limits.requests_per_minute)
        now = time.monotonic()
        left, then = self._buckets.get(student, (full, now))
        left = min(full, left + (now - then) * full / 60)
        if left < 1:
            seconds = (1 - left) * 60 / full
            self._buckets[student] = left, now
            raise Refusal(429, f"at most {full:g} requests are answered in a minute: wait a moment", ceil(seconds))
        self._buckets[student] = left - 1, now


class Uploads:
    """Counts the bytes of hand-ins being received. Each student has a budget, and half of the total is a reserve.

    Only a student's first upload may use the reserve, so it takes many students to fill it.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self._max, self._max_of_one = limits.upload_mb * 2**20, limits.student_mb * 2**20
        self._uploads: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def receive(self, student: str) -> Iterator[Callable[[int], None]]:
        """Yield a function that counts bytes during the block, and raises Refusal if there are too many."""
        bound = self._max // 2 if self._uploads[student] else self._max
        arrived = 0

        def count(number: int) -> None:
            nonlocal arrived
            if self._bytes[student] + number > self._max_of_one:
                raise Refusal(429, "your uploads are too large together: send one after the other", 5)
            if self.total() + number > bound:
                raise Refusal(503, "too many notebooks arrive at once: hand in again in a few seconds", 5)
            self._bytes[student] += number
            arrived += number

        self._uploads[student] += 1
        try:
            yield count
        finally:
            self._uploads[student] -= 1
            self._bytes[student] -= arrived
            if not self._uploads[student]:
                del self._uploads[student], self._bytes[student]

    def arrived(self, student: str) -> int:
        """Return the bytes of a student's hand-ins in memory."""
        return self._bytes[student]

    def total(self) -> int:
        """Return the bytes of all hand-ins in memory."""
        return self._bytes.total()


class BoundedServer(HTTPServer):
    """A server with a maximum of connections; a new one replaces the one that has been idle longest."""

    def initialize(self, application: Any, *, max_connections: int, **options: Any) -> None:  # type: ignore[override]
        """Set up the server.

        Args:
            application: tornado's application.
            max_connections: the maximum number of open connections.
            options: tornado's options.
        """
        super().initialize(application, max_body_size=SMALL_BODY, max_header_size=MAX_HEADERS, **options)
        self._max_connections = max_connections
        self._idle: dict[IOStream, None] = {}
        self._busy: set[IOStream] = set()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a new connection, or close it if all others are busy."""
        if len(self._idle) + len(self._busy) >= self._max_connections:
            self._forget_closed()
        while len(self._idle) + len(self._busy) >= self._max_connections:
            if not self._idle:
                stream.close()
                return
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.close()
        self._idle[stream] = None
        super().handle_stream(stream, address)

    def busy(self, stream: IOStream) -> None:
        """Mark a connection as busy with a student's request; it keeps its place until the answer."""
        self._idle.pop(stream, None)
        self._busy.add(stream)

    def idle(self, stream: IOStream) -> None:
        """Mark a connection as idle after the answer."""
        self._busy.discard(stream)
        if not stream.closed():
            self._idle[stream] = None

    def connections(self) -> int:
        """Return the number of open connections."""
        self._forget_closed()
        return len(self._idle) + len(self._busy)

    def _forget_closed(self) -> None:
        for stream in [stream for stream in self._idle if stream.closed()]:
            del self._idle[stream]
        self._busy = {stream for stream in self._busy if not stream.closed()}
