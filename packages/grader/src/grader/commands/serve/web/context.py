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

from nbformat import NotebookNode
from sqlalchemy.exc import DBAPIError, OperationalError

from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.rules import seconds_late
from grader.classroom.page.summary import OUTDATED, with_notice
from grader.classroom.record.record import Record
from grader.classroom.record.requests import Request, TooManyRequests, UnusableText, ask, requests_of
from grader.classroom.returned import ReturnedFolder, ReturnedNotebook
from grader.classroom.student import Assignment
from grader.classroom.submitted.matching import Matcher
from grader.commands.serve.databases import Deadlines
from grader.commands.serve.dispatch import Dispatcher
from grader.commands.serve.metrics import Metrics
from grader.commands.serve.policy import EVERYTHING, Refusal, SubmissionPolicy, published, shown
from grader.commands.serve.source_watch import SourceWatch
from grader.commands.serve.store import GRADED, Store, SubmissionRow, utc_now
from grader.commands.serve.web.identity import Identity
from grader.commands.serve.web.limits import BoundedServer, Rates, ServiceLimits, Uploads
from grader.commands.serve.web.links import Links, View
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import Role, plan
from grader.errors import GraderError
from grader.text import one_line, plural, span

log = logging.getLogger("grader.commands.serve")
PARSERS = 4
"""Files that are parsed at a time on arrival."""
Value = TypeVar("Value")


@dataclass(frozen=True)
class Marks:
    """The marks of a notebook that its student has back, as of a time in UTC."""

    time: datetime
    notebook: ReturnedNotebook

    @property
    def text(self) -> str:
        """The points as text."""
        return f"{self.notebook.points:g} of {plural(self.notebook.max_points, 'point')}"

    def is_older_than(self, row: SubmissionRow) -> bool:
        """Return whether a hand-in was graded after the marks were read, or is not graded yet."""
        return row.graded_at is None or row.graded_at > self.time.replace(tzinfo=None)

    def as_json(self, row: SubmissionRow | None) -> dict[str, Any]:
        """Return the JSON form; `row` is the hand-in to which they are compared."""
        return {
            "points": self.notebook.points,
            "max_points": self.notebook.max_points,
            "waiting": self.notebook.waiting,
            "returned": iso(self.time.replace(tzinfo=None)),
            "is_older": row is not None and self.is_older_than(row),
        }


@dataclass(frozen=True)
class FeedbackPage:
    """A page, the student's requests, and a sentence about another hand-in of the same notebook, or ''.

    `has_other` is true if that one has a page, too.
    """

    html: str
    requests: list[Request]
    other: str
    has_other: bool


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
    returned: ReturnedFolder
    watch: SourceWatch

    def __post_init__(self) -> None:
        self.steps = {
            (name, notebook): {step.name: step for step in plan(source) if step.role is Role.TEST}
            for name, assignment in self.assignments.items()
            for notebook, source in assignment.sources.items()
        }
        """The tests by assignment and notebook, and then by name."""
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
        self.matcher = Matcher({name: NotebookNode(cells=[]) for name in self.assignments})
        """Recognises an assignment by the name of a folder."""
        self.rules = {name: self.policy.for_assignment(name) for name in self.assignments}
        self.rates, self.uploads, self.links = Rates(self.limits), Uploads(self.limits), Links()
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
            steps = self.steps.get((row.assignment, row.notebook), {})
            form["report"] = published(report, disclosure, steps, is_alone=is_alone)
            form |= {"counts": row.counts, "told": disclosure, "graded": iso(row.graded_at)}
            form["requests"] = [each.as_json() for each in self.requests(_view(row))]
            form["unmarked"] = self._unmarked(row)
            if self.is_outdated(row):
                form["outdated"] = OUTDATED
        return form

    def is_outdated(self, row: SubmissionRow | View) -> bool:
        """Return whether source/ or the limits have changed since a hand-in that counts was graded, or marked work."""
        is_served = (row.assignment, row.notebook) in self.exercises
        counts = isinstance(row, View) or bool(row.counts)
        return counts and is_served and self.watch.is_outdated(row.assignment, row.student, row.notebook)

    def feedback(self, view: View) -> dict[str, Any]:
        """Return the JSON form of what became of a notebook, and whether it `has_page` that its student may see."""
        row, marks = self._row(view), self._marks(view)
        receipt = None if row is None else self.receipt(row)
        has_page = receipt is not None and receipt.get("told") == EVERYTHING
        used = self.store.attempts(view.student, view.assignment, view.notebook).used
        return {
            "assignment": view.assignment,
            "notebook": view.notebook,
            "marks": None if marks is None else marks.as_json(row),
            "requests": [each.as_json() for each in self.requests(view)],
            "hand_in": receipt,
            "attempts_left": self.rules[view.assignment].left(used),
            "outdated": OUTDATED if self.is_outdated(view if row is None or marks else row) else None,
            "has_page": marks is not None or has_page,
        }

    def feedback_page(self, view: View, is_marked: bool = False) -> FeedbackPage:
        """Return the newest page of a notebook that its student may see.

        Args:
            view: whose notebook, and which hand-in.
            is_marked: whether to return that of the marked work although a newer hand-in has one, too.

        Raises:
            Refusal: there is no such page.
        """
        row, marks, requests = self._row(view), self._marks(view), self.requests(view)
        is_newer = row is not None and marks is not None and marks.is_older_than(row)
        own: str | Refusal = Refusal(404, "this notebook has no page yet: it was neither graded here nor returned")
        if row is not None and (is_newer or marks is None):
            try:
                own = self._page(row)
            except Refusal as refusal:
                own = refusal
        if isinstance(own, str) and not is_marked:
            other = "" if marks is None else f"An earlier hand-in of yours is marked: {marks.text}."
            return FeedbackPage(own, requests, other, bool(other))
        page = None if marks is None else self.returned.page(view.assignment, view.student, view.notebook)
        if page is not None:
            other = "You have handed in again since, which is not in these marks." if is_newer else ""
            page = with_notice(page, is_outdated=self.is_outdated(view))
            return FeedbackPage(page, requests, other, isinstance(own, str))
        raise own if isinstance(own, Refusal) else Refusal(404, "this notebook is not returned yet")

    def _page(self, row: SubmissionRow) -> str:
        """Return the page of a hand-in; raise Refusal if its student may not see it yet."""
        if row.state != GRADED:
            raise Refusal(409, f"this hand-in has no page: it is {row.state}", 1)
        if self.receipt(row)["told"] != EVERYTHING:
            raise Refusal(403, "the page is available after the due time; until then read the report")
        page = self.store.page(row.id)
        if page is None:
            raise Refusal(404, "the page of this hand-in is no longer kept, because a newer or better one has a page")
        return with_notice(page, is_outdated=self.is_outdated(row))

    def _row(self, view: View) -> SubmissionRow | None:
        """Return the hand-in that a view shows, by default the one that counts."""
        if view.hand_in:
            return self.store.get(view.hand_in)
        return self.store.counting(view.student, view.assignment).get(view.notebook)

    def _marks(self, view: View) -> Marks | None:
        """Return the marks of a notebook that its student has back."""
        try:
            work = self.returned.of(view.assignment, view.student)
        except GraderError as error:
            log.error("%s", error)
            return None
        own = work.notebooks.get(view.notebook) if work else None
        return None if work is None or own is None else Marks(work.time, own)

    def _unmarked(self, row: SubmissionRow) -> float:
        """Return the points of a notebook that no test gives."""
        most = self.max_points.get((row.assignment, row.notebook), 0.0)
        return max(0.0, most - json.loads(row.report or "{}").get("max_points", most))

    def requests(self, view: View) -> list[Request]:
        """Return the student's requests for a regrade of a notebook, with their answers."""
        try:
            found = requests_of(self.record.entries(), view.assignment, view.student)
        except GraderError as error:
            log.error("%s", error)  # a report is worth more than its requests
            return []
        return [each for each in found if each.asked.notebook == view.notebook]

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


def _view(row: SubmissionRow) -> View:
    return View(row.student, row.assignment, row.notebook, row.id)


def iso(time: datetime | None) -> str | None:
    """Return a UTC time in ISO 8601."""
    return None if time is None else f"{time.isoformat(timespec='microseconds')}Z"
