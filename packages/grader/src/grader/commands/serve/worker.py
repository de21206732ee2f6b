"""Grades hand-ins in threads, and writes their results in the main thread, the only writer.

    Ticket --threads: parse, repair, grade--> Outcome --main thread--> submitted/, gradebook, pages, store

A signal stops the rendering of a hostile page, and signals reach only the main thread of a process.
"""

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import register
from grader.classroom.results import SECRET, TIMESTAMP, ResultWriter, StudentResult, new_secret
from grader.classroom.student import Assignment, Submission
from grader.classroom.submitted.times import record_time
from grader.commands.serve.fair_queue import Ticket
from grader.commands.serve.policy import SubmissionPolicy
from grader.commands.serve.store import Graded, Store, SubmissionRow
from grader.engine.supervisor.parsers import parse
from grader.errors import GraderError, UnreadableFile
from grader.files import replace_file

MAX_TRIES = 3
"""Attempts at a notebook whose grading is given up, which need not be its own fault."""
NEW_HAND_IN = "a new hand-in"
"""The reason of changed points in the record."""
Grade = Callable[[Assignment, Submission], StudentResult]
log = logging.getLogger("grader.commands.serve")


@dataclass
class Outcome:
    """The outcome of a ticket: a result, a problem that the student must solve, or neither if it was superseded.

    `failed` is true if the grader failed and the hand-in must be graded again.
    """

    ticket: Ticket
    result: StudentResult | None = None
    problem: str = ""
    failed: bool = False


def grade_ticket(ticket: Ticket, store: Store, assignment: Assignment, grade: Grade) -> Outcome:
    """Grade a hand-in; this function is thread-safe.

    Args:
        ticket: the hand-in's ticket.
        store: the table of hand-ins.
        assignment: the assignment.
        grade: grades a submission, here or on a cluster.
    """
    try:
        content = store.start(ticket.id)
        if content is None:
            return Outcome(ticket)
        if problem := _other_notebook(assignment, ticket.notebook, content):
            return Outcome(ticket, problem=problem)
        submission = Submission(ticket.student, ticket.id, {ticket.notebook: content})
        for _ in range(MAX_TRIES):
            result = grade(assignment, submission)
            if ticket.notebook not in result.reports:
                parse(content, f"{ticket.notebook}.ipynb")  # raises the reason
            if not result.reports[ticket.notebook].given_up:
                break
        return Outcome(ticket, result)
    except UnreadableFile as error:
        return Outcome(ticket, problem=f"{error.to_student}, and hand it in again")
    except Exception:
        log.exception("hand-in %s could not be graded", ticket.id)
        return Outcome(ticket, failed=True)


def _other_notebook(assignment: Assignment, name: str, content: bytes) -> str:
    """Return a problem if a file has cells of another notebook of the assignment only, or ''."""
    matcher = assignment.chooser.matcher
    if matcher.seems_to_be(name, content):
        return ""
    notebook = parse(content, f"{name}.ipynb")
    owner = matcher.by_cells(notebook)
    if owner in (None, name) or matcher.has_cells_of(name, notebook):
        return ""
    return f"the file has the cells of {owner}, and was handed in as {name}: hand it in as {owner}"


class Writer:
    """Writes results. All methods except `put` and `stop` belong to the main thread."""

    def __init__(
        self,
        course_dir: CourseDir,
        store: Store,
        assignments: dict[str, Assignment],
        written: Callable[[Outcome, SubmissionRow | None], None],
    ) -> None:
        """Create a writer.

        Args:
            course_dir: the course folder.
            store: the table of hand-ins.
            assignments: the assignments by name.
            written: called after each outcome, with a hand-in that waits again or None.
        """
        self._course_dir, self._store, self._assignments, self._written = course_dir, store, assignments, written
        self._rules = SubmissionPolicy(course_dir.config)
        self._outcomes: SimpleQueue[Outcome | None] = SimpleQueue()
        self._writers: dict[str, ResultWriter] = {}
        self._cold = list(assignments)
        self._open = ExitStack()

    def put(self, outcome: Outcome) -> None:
        """Queue an outcome."""
        self._outcomes.put(outcome)

    def stop(self) -> None:
        """Make `run` return. A signal handler may call this."""
        self._outcomes.put(None)

    def run(self, seconds: float | None = None) -> None:
        """Write outcomes until `stop`, and prepare the assignments while there is nothing to write.

        Args:
            seconds: the time to wait for an outcome; None for any time, which also prepares assignments.
        """
        while True:
            is_preparing = seconds is None and bool(self._cold)
            try:
                outcome = self._outcomes.get(not is_preparing, seconds)
            except Empty:
                if not is_preparing:
                    return
                assignment = self._cold.pop(0)
                try:
                    self._prepared(assignment)
                except Exception:
                    # Other assignments can be graded, and the first hand-in of this one tries again.
                    log.exception("%s could not be prepared", assignment)
                continue
            if outcome is None:
                return
            self._write(outcome)

    def close(self) -> None:
        """Close the gradebook."""
        self._writers.clear()
        try:
            self._open.close()
        except GraderError as error:
            log.error("%s", error)

    def _write(self, outcome: Outcome) -> None:
        again = None
        try:
            if outcome.failed:
                self._store.put_back(outcome.ticket.id)
            elif outcome.problem:
                again = self._store.refuse(outcome.ticket.id, outcome.problem)
            elif outcome.result is not None:
                self._store.finish(outcome.ticket.id, self._graded(outcome.ticket, outcome.result))
        except Exception:
            # The gradebook may be locked or the disk full; accepted hand-ins stay, and are graded later.
            log.exception("the results of hand-in %s could not be written", outcome.ticket.id)
            outcome.failed = True
            try:
                self._store.put_back(outcome.ticket.id)
            except Exception:
                log.exception("hand-in %s could not be put back yet", outcome.ticket.id)
        self._written(outcome, again)

    def _graded(self, ticket: Ticket, result: StudentResult) -> Graded:
        row, writer = self._store.get(ticket.id), self._prepared(ticket.assignment)
        assert row is not None
        for error in result.errors:
            log.error("%s: %s", ticket.student, error)
        report = result.reports[ticket.notebook]
        counting = self._store.counting(ticket.student, ticket.assignment)
        before = counting.get(ticket.notebook)
        counts = not (report.given_up and before) and self._counts(row, report.points, before, writer)
        if counts:
            times = [other.received for name, other in counting.items() if name != ticket.notebook]
            self._submit(ticket, row, max([*times, row.received]))
            result.basis = writer.inputs(self._assignments[ticket.assignment]).basis(ticket.student)
            writer.write_some(result)
        # Marks wait for `grader feedback`, also those of earlier hand-ins, which the gradebook keeps.
        return Graded(report.as_json(), writer.page_without_marks(result, ticket.notebook, row.received), counts)

    def _counts(self, row: SubmissionRow, points: float, before: SubmissionRow | None, writer: ResultWriter) -> bool:
        if before is None or before.id == row.id:
            return True
        if self._rules.for_assignment(row.assignment).counts == "last":
            return row.number > before.number

        def worth(points: float, received: datetime) -> float:
            return points - writer.gradebook.late_penalty(row.student, points, received)

        own, other = worth(points, row.received), worth(before.points or 0.0, before.received)
        return own > other or (own == other and row.number < before.number)

    def _submit(self, ticket: Ticket, row: SubmissionRow, time: datetime) -> None:
        """Write the bytes into submitted/ for class runs, with the time of the last hand-in that counts."""
        folder = self._course_dir.folder("submitted", ticket.assignment, ticket.student)
        content = self._store.content(ticket.id)
        # On the disk before the hand-in counts as graded.
        replace_file(folder / f"{ticket.notebook}.ipynb", content, is_durable=True)
        record_time(folder, ticket.notebook, content, row.received)
        if not (folder / SECRET).exists():
            replace_file(folder / SECRET, new_secret())  # as `nbgrader submit` does, for `nbgrader release_feedback`
        replace_file(folder / TIMESTAMP, f"{time:%Y-%m-%d %H:%M:%S.%f} UTC", is_durable=True)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _prepared(self, assignment: str) -> ResultWriter:
        """Return the writer of an assignment, which its first use registers in the gradebook."""
        if assignment not in self._writers:
            register(self._course_dir, assignment)
            writer = self._open.enter_context(ResultWriter(self._course_dir, assignment, NEW_HAND_IN))
            writer.warm_up(self._assignments[assignment].sources)
            self._writers[assignment] = writer
        return self._writers[assignment]
