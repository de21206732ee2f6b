"""Passes waiting hand-ins to threads that grade them, and wakes requests that wait for a report, in the event loop.

add --> FairQueue --> threads --> Writer --> written: wake the readers, take the next
"""

import asyncio
import logging
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from sqlalchemy.exc import DBAPIError

from grader.classroom.student import Assignment
from grader.commands.serve.fair_queue import FairQueue, Ticket
from grader.commands.serve.metrics import Metrics
from grader.commands.serve.store import WAITING, Store, SubmissionRow
from grader.commands.serve.worker import Grade, Outcome, Writer, grade_ticket

MAX_UNWRITTEN = 16
"""Results that may wait for the writer; each holds a notebook with its outputs in memory."""
RETRY_SECONDS, MAX_RETRY_SECONDS = 2, 300
"""Seconds until a hand-in is graded again after a failure of the grader; doubled each time, and their maximum."""
log = logging.getLogger("grader.commands.serve")


class Dispatcher:
    """The queue and the hand-ins being graded. All methods except `written` belong to the event loop's thread."""

    def __init__(
        self, store: Store, assignments: dict[str, Assignment], workers: int, metrics: Metrics, grade: Grade
    ) -> None:
        """Create a dispatcher, which `run` starts.

        Args:
            store: the table of hand-ins.
            assignments: the assignments by name.
            workers: the number of hand-ins graded at a time.
            metrics: the counters.
            grade: grades a submission, here or on a cluster.
        """
        self._grade_submission = grade
        self.queue = FairQueue()
        self._store, self._assignments, self._metrics = store, assignments, metrics
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="grading")
        self._changed: dict[str, asyncio.Event] = {}
        self._arrivals: dict[str, float] = {}
        self._failures: Counter[str] = Counter()
        self._grading, self._unwritten, self._is_stopping = 0, 0, False

    def run(self, loop: asyncio.AbstractEventLoop, writer: Writer) -> None:
        """Start to work in an event loop, with all waiting hand-ins of the store."""
        self._loop, self._writer = loop, writer
        for row in self._store.recover():
            if row.assignment in self._assignments and row.notebook in self._assignments[row.assignment].sources:
                self._enqueue(row.ticket)
            else:
                log.error(
                    "hand-in %s waits for %s/%s, which source/ no longer has", row.id, row.assignment, row.notebook
                )
        self._dispatch()

    def add(self, row: SubmissionRow) -> None:
        """Queue a new hand-in."""
        self._enqueue(row.ticket)
        self._dispatch()

    def under_way(self) -> int:
        """Return the number of hand-ins being graded or written."""
        return self._grading + self._unwritten

    async def changed(self, key: str, seconds: float) -> None:
        """Wait until the state of a hand-in may have changed, for some seconds at most."""
        if key in self._changed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed[key].wait(), seconds)

    def stop(self) -> None:
        """Start no further jobs."""
        self._is_stopping = True
        self._threads.shutdown(wait=False)

    def written(self, outcome: Outcome, again: SubmissionRow | None) -> None:
        """Report that the writer has finished an outcome, from any thread."""
        with suppress(RuntimeError):  # the loop has ended, and the service is ending
            self._loop.call_soon_threadsafe(self._written, outcome, again)

    def _enqueue(self, ticket: Ticket) -> None:
        self._arrivals[ticket.id] = time.monotonic()
        self._changed.setdefault(ticket.id, asyncio.Event())
        older = self.queue.add(ticket)
        if older is not None:
            self._wake(older.id)

    def _dispatch(self) -> None:
        while not self._is_stopping and self._grading < self._workers and self._unwritten < MAX_UNWRITTEN:
            ticket = self.queue.take()
            if ticket is None:
                break
            self._grading += 1
            self._threads.submit(self._grade, ticket)
        self._metrics.waiting.set(len(self.queue))
        self._metrics.grading.set(self._grading)

    def _grade(self, ticket: Ticket) -> None:
        outcome = grade_ticket(ticket, self._store, self._assignments[ticket.assignment], self._grade_submission)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._graded)
        self._writer.put(outcome)

    def _graded(self) -> None:
        self._grading -= 1
        self._unwritten += 1
        self._dispatch()

    def _written(self, outcome: Outcome, again: SubmissionRow | None) -> None:
        ticket = outcome.ticket
        self._unwritten -= 1
        self.queue.done(ticket.student)
        if outcome.failed:
            self._metrics.failures.inc()
            self._retry_later(ticket)
        else:
            self._failures.pop(ticket.id, None)
            if outcome.result is not None:
                self._metrics.seconds.observe(time.monotonic() - self._arrivals[ticket.id])
            self._wake(ticket.id)
        if again is not None:
            self._enqueue(again.ticket)
        self._dispatch()

    def _retry_later(self, ticket: Ticket) -> None:
        self._failures[ticket.id] += 1
        seconds = min(MAX_RETRY_SECONDS, RETRY_SECONDS * 2 ** min(self._failures[ticket.id] - 1, 10))
        log.error("hand-in %s is graded again in %d seconds", ticket.id, seconds)
        self._loop.call_later(seconds, self._retry, ticket)

    def _retry(self, ticket: Ticket) -> None:
        try:
            # The writer could not put it back if the database failed.
            self._store.put_back(ticket.id)
            row = self._store.get(ticket.id)
        except DBAPIError:
            self._retry_later(ticket)
            return
        if row is not None and row.state == WAITING:
            self._enqueue(ticket)
            self._dispatch()
        else:
            self._wake(ticket.id)

    def _wake(self, key: str) -> None:
        self._arrivals.pop(key, None)
        if (event := self._changed.pop(key, None)) is not None:
            event.set()
