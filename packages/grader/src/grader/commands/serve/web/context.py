"""Holds the context that all handlers share: the assignments, the rules, the store and the queue."""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError, OperationalError

from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.rules import seconds_late
from grader.classroom.page.summary import OUTDATED
from grader.classroom.record.record import Record
from grader.classroom.record.requests import Request, TooManyRequests, UnusableText, ask, requests_of
from grader.classroom.student import Assignment
from grader.commands.serve.databases import Deadlines
from grader.commands.serve.dispatch import Dispatcher
from grader.commands.serve.metrics import Metrics
from grader.commands.serve.policy import EVERYTHING, Refusal, SubmissionPolicy, published, shown
from grader.commands.serve.source_watch import SourceWatch
from grader.commands.serve.store import Store, SubmissionRow, utc_now
from grader.commands.serve.web.identity import Identity
from grader.commands.serve.web.limits import BoundedServer, Rates, ServiceLimits, Uploads
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import plan
from grader.errors import GraderError
from grader.text import one_line, span

log = logging.getLogger("grader.commands.serve")
PARSERS = 4
"""Files that are parsed at a time on arrival."""
Value = TypeVar("Value")


@dataclass(eq=False)
class ServiceContext:
    """The context that the handlers share."""

    assignments: dict[str, Assignment]
    policy: SubmissionPolicy
    limits: ServiceLimits
    identity: Identity
    store: Store
    deadlines: Deadlines
    late_penalty: LatePenalty
    dispatcher: Dispatcher
    metrics: Metrics
    record: Record
    watch: SourceWatch

    def __post_init__(self) -> None:
        self.hidden = {
            (name, notebook): {step.name for step in plan(source) if step.is_hidden}
            for name, assignment in self.assignments.items()
            for notebook, source in assignment.sources.items()
        }
        """The names of the hidden tests by assignment and notebook."""
        self.exercises = {
            (name, notebook): list(Outline(source).exercises)
            for name, assignment in self.assignments.items()
            for notebook, source in assignment.sources.items()
        }
        """The names of the exercises by assignment and notebook."""
        self.max_points = {
            (name, notebook): sum(
                float((cell.metadata.get("nbgrader") or {}).get("points") or 0) for cell in source.cells
            )
            for name, assignment in self.assignments.items()
            for notebook, source in assignment.sources.items()
        }
        """The most points of each notebook, by assignment and notebook."""
        self.rules = {name: self.policy.for_assignment(name) for name in self.assignments}
        self.rates, self.uploads = Rates(self.limits), Uploads(self.limits)
        self.server: BoundedServer
        # All queries run in a thread of their own, so that a slow disk blocks no other request.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._parsers = ThreadPoolExecutor(PARSERS, thread_name_prefix="parsing")
        self._parsing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def in_store_thread(self, question: Callable[..., Value], *arguments: Any) -> Value:
        """Call a function that uses the databases, and return its result; raise Refusal if the database fails."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, question, *arguments)
        except DBAPIError as error:
            log.error("the database of hand-ins failed: %s", one_line(error.orig))
            raise Refusal(503, "the disk of the service is full or busy: hand in again in a minute", 60) from None

    async def in_parser_thread(self, student: str, function: Callable[[bytes], Value], content: bytes) -> Value:
        """Call a function that parses a file of a student, and return its result.

        Of each student one file at a time, so that a file that takes long to parse delays only its student.
        """
        async with self._parsing[student]:
            return await asyncio.get_running_loop().run_in_executor(self._parsers, function, content)

    def due(self, assignment: str, student: str) -> datetime | None:
        """Return the due time of a student in UTC, or None."""
        return self.deadlines.due(assignment, student)

    def lateness(self, assignment: str, notebook: str, student: str) -> tuple[str, str]:
        """Return how late a hand-in would be now, such as `3 days`, and a sentence about its cost; '' for neither.

        Args:
            assignment: the assignment's name.
            notebook: the notebook's name.
            student: the student's name.
        """
        try:
            due = self.due(assignment, student)
        except OperationalError:
            return "", ""  # another program locks the gradebook, and the date was never read: nothing is known
        seconds = seconds_late(utc_now(), due, None)
        if due is None or not seconds:
            return "", ""
        full = self.max_points[assignment, notebook]
        cost = self.late_penalty.of(student, full, seconds)
        if not cost:
            return span(seconds), ""
        return span(seconds), (
            f"this was due at {shown(due)}, {span(seconds)} ago: handed in now, {notebook} with full points would lose "
            f"{cost:g} of {full:g}"
        )

    def receipt(self, row: SubmissionRow) -> dict[str, Any]:
        """Return the JSON form of a hand-in that its student may see now."""
        rules = self.rules.get(row.assignment)
        is_limited = rules is not None and rules.attempts > 0
        used = self.store.attempts(row.student, row.assignment, row.notebook).used if is_limited else 0
        form: dict[str, Any] = {
            "id": row.id,
            "student": row.student,
            "assignment": row.assignment,
            "notebook": row.notebook,
            "sha256": row.sha256,
            "received": iso(row.received),
            "attempt": row.attempt,
            "attempts_left": rules.left(used) if rules else 0,
            "state": row.state,
        }
        if row.superseded_by is not None:
            form["superseded_by"] = row.superseded_by
        if row.problem is not None:
            form["error"] = row.problem
        if row.report is not None:
            disclosure, is_alone, report = EVERYTHING, False, json.loads(row.report)
            is_carried = any("alone" in test for test in report["tests"])
            # The due date is read only if it decides, because another program may lock the gradebook.
            if rules is not None and (is_carried or rules.disclosure != EVERYTHING):
                due, now = self.due(row.assignment, row.student), utc_now()
                disclosure = rules.disclosure_at(now, due)
                # Student code that runs with our answers could disclose them through its results.
                is_alone = due is not None and now <= due
            hidden = self.hidden.get((row.assignment, row.notebook), set())
            form["report"] = published(report, disclosure, hidden, is_alone=is_alone)
            form |= {"counts": row.counts, "told": disclosure, "graded": iso(row.graded_at)}
            if self.is_outdated(row):
                form["outdated"] = OUTDATED
            form["requests"] = [each.as_json() for each in self.requests(row)]
        return form

    def is_outdated(self, row: SubmissionRow) -> bool:
        """Return whether source/ or the limits have changed since a hand-in that counts was graded."""
        is_served = (row.assignment, row.notebook) in self.exercises
        return bool(row.counts) and is_served and self.watch.is_outdated(row.assignment, row.student, row.notebook)

    def requests(self, row: SubmissionRow) -> list[Request]:
        """Return the student's requests for a regrade of a notebook, with their answers."""
        try:
            found = requests_of(self.record.entries(), row.assignment, row.student)
        except GraderError as error:
            log.error("%s", error)  # a report is worth more than its requests
            return []
        return [each for each in found if each.asked.notebook == row.notebook]

    def ask(self, student: str, assignment: str, notebook: str, exercise: str, text: str) -> Request:
        """Record a student's request for a regrade, and return it; raise Refusal if it is not acceptable."""
        names = self.exercises[assignment, notebook]
        if exercise and exercise not in names:
            raise Refusal(
                404, f"{notebook} has no exercise {one_line(exercise, 100)!r}: name one of {', '.join(names)}, or none"
            )
        try:
            return ask(self.record, student, assignment, notebook, exercise, text)
        except UnusableText as error:
            raise Refusal(400, str(error)) from None
        except TooManyRequests as error:
            raise Refusal(429, str(error)) from None
        except GraderError as error:
            log.error("%s", error)
            raise Refusal(503, "the service cannot store this now: ask again in a minute", 60) from None


def iso(time: datetime | None) -> str | None:
    """Return a UTC time in ISO 8601."""
    return None if time is None else f"{time.isoformat(timespec='microseconds')}Z"
