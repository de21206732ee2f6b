"""Keeps the requests of students for a regrade, and their answers, as entries of the record.

a student --ask--> regrade-request --open_requests--> markers --answer--> answer --requests_of--> the student
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.record import Record
from grader.errors import GraderError
from grader.text import one_line, plural, printable
from grader_kernel.contract import MAX_REQUEST, TOO_LONG

MAX_OPEN = 10
"""Requests of one student that may wait for an answer, so that no one floods the markers or the disk."""


class UnusableText(GraderError):
    """A request or an answer is empty or too long."""


class TooManyRequests(GraderError):
    """A student waits for the answers to as many requests as are allowed."""


@dataclass(frozen=True)
class Request:
    """What a student asked, and the answer if there is one.

    `asked.cell` is the exercise, or '' for a whole notebook; `asked.why` is the text. `answer.before` and
    `answer.after` are the points of the exercise.
    """

    asked: Entry
    answer: Entry | None = None

    @property
    def points(self) -> str:
        """The points of the exercise before and after the answer in brackets, or ''."""
        before, after = (self.answer.before, self.answer.after) if self.answer else (None, None)
        if not isinstance(after, float):
            return ""
        changed = f"{before:g} → " if isinstance(before, float) and before != after else ""
        return f" ({changed}{plural(after, 'point')})"

    def as_json(self) -> dict[str, Any]:
        """Return what the student sees: who answered is not in it."""
        asked, answer = self.asked, self.answer
        form: dict[str, Any] = {
            "id": asked.id,
            "notebook": asked.notebook,
            "exercise": asked.cell,
            "asked": asked.time.isoformat(),
            "text": asked.why,
            "answer": None,
        }
        if answer is not None:
            form["answer"] = {
                "time": answer.time.isoformat(),
                "text": answer.why,
                "before": answer.before,
                "after": answer.after,
            }
        return form


def requests_of(entries: Iterable[Entry], assignment: str = "", student: str = "") -> list[Request]:
    """Return the requests with their last answers, the oldest request first; without those of removed students.

    Args:
        entries: the record.
        assignment: if not empty, only those of this assignment.
        student: if not empty, only those of this student.
    """
    asked: dict[str, Entry] = {}
    answers: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind is Kind.REGRADE_REQUEST:
            asked[entry.id] = entry
        elif entry.kind is Kind.ANSWER:
            answers[entry.request] = entry
        elif entry.kind is Kind.REMOVAL:
            # Another student may get the name.
            asked = {key: each for key, each in asked.items() if each.student != entry.student}
    return [
        Request(entry, answers.get(key))
        for key, entry in asked.items()
        if assignment in ("", entry.assignment) and student in ("", entry.student)
    ]


def open_requests(record: Record, assignment: str = "") -> list[Entry]:
    """Return the requests that wait for an answer, the oldest first.

    Args:
        record: the record of the course.
        assignment: if not empty, only those of this assignment.
    """
    return [each.asked for each in requests_of(record.entries(), assignment) if each.answer is None]


def ask(record: Record, student: str, assignment: str, notebook: str, exercise: str, text: str) -> Request:
    """Record a request, and return it; asked twice with the same words while it is open, it is one.

    Args:
        record: the record of the course.
        student: the student's name.
        assignment: the assignment's name.
        notebook: the notebook's name.
        exercise: the exercise, or '' for the whole notebook.
        text: what the student wrote.

    Raises:
        UnusableText: the text is empty or too long.
        TooManyRequests: too many requests of the student are open.
        GraderError: the record cannot be read or written.
    """
    text = _text(text, "say what to look at again")
    with record.locked() as append:
        own = [each.asked for each in requests_of(record.entries(), student=student) if each.answer is None]
        place = assignment, notebook, exercise, text
        for entry in own:
            if (entry.assignment, entry.notebook, entry.cell, entry.why) == place:
                return Request(entry)
        if len(own) >= MAX_OPEN:
            raise TooManyRequests(f"{plural(len(own), 'request')} of yours wait for an answer: wait for these first")
        entry = Entry(
            kind=Kind.REGRADE_REQUEST, who=student, student=student, assignment=assignment, notebook=notebook,
            cell=exercise, why=text,
        )  # fmt: skip
        append([entry])
    return Request(entry)


def answer(
    record: Record, key: str, who: str, text: str, points: Callable[[Entry], tuple[float | None, float | None]]
) -> Request:
    """Record the answer to a request, and return both; a second answer replaces the first.

    Args:
        record: the record of the course.
        key: the id of the request, or the beginning of it.
        who: the account of the person who answers.
        text: what the student will read.
        points: returns the points of the exercise when it was asked, and now; None where they are unknown.

    Raises:
        GraderError: there is no such request, the text is empty or too long, or the record cannot be written.
    """
    text = _text(text, "write what the student should read")
    with record.locked() as append:
        found = [each.asked for each in requests_of(record.entries()) if key and each.asked.id.startswith(key)]
        if len(found) != 1:
            which = "several requests have" if found else "no request has"
            raise GraderError(f"{which} the id '{one_line(key, 50)}': run 'grader requests' to see all")
        before, after = points(found[0])
        asked = found[0]
        entry = Entry(
            kind=Kind.ANSWER, who=who, student=asked.student, assignment=asked.assignment, notebook=asked.notebook,
            cell=asked.cell, before=before, after=after, why=text, request=asked.id,
        )  # fmt: skip
        append([entry])
    return Request(asked, entry)


def points_before(entries: Iterable[Entry], asked: Entry, now: float | None) -> float | None:
    """Return the points of a cell when a request was made: what the first later change of it replaced, or those of now.

    Args:
        entries: the record.
        asked: the request; its cell is a written answer, a task or a test.
        now: the cell's points now.
    """
    place = asked.student, asked.assignment, asked.notebook, asked.cell
    later = dropwhile(lambda entry: entry.id != asked.id, entries)
    for entry in (each for each in later if each.kind in (Kind.MARK, Kind.OVERRIDE)):
        if (entry.student, entry.assignment, entry.notebook, entry.cell) == place:
            return entry.before if isinstance(entry.before, float) else None
    return now


def _text(text: str, to_do: str) -> str:
    clean = printable(text, len(text)).strip()
    if not clean:
        raise UnusableText(f"the text is empty: {to_do}")
    if len(clean) > MAX_REQUEST:
        raise UnusableText(TOO_LONG)
    return clean
