"""Writes the extension of a student into nbgrader's gradebook, with an entry in the record.

DATE --due_date--> UTC --less the due date of the assignment--> SubmittedAssignment.extension
"""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo

from nbgrader import api
from nbgrader.api import Gradebook
from sqlalchemy import select, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger, ledger_of
from grader.classroom.gradebook.rules import due_for
from grader.classroom.record.catch_up import catch_up
from grader.classroom.record.entry import Entry, Kind, account
from grader.classroom.release import register
from grader.errors import GraderError
from grader.text import one_line

DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))? ?(Z|[+-]\d\d:?\d\d|[A-Za-z][\w/+-]*)?")
END_OF_DAY = "23:59:59"
EXAMPLE = "write a date such as '2026-12-24', '2026-12-24 18:00 Europe/Berlin' or '2026-12-24T18:00+01:00'"


def due_date(text: str, *, allow_past: bool = False) -> datetime:
    """Parse a due date into UTC without a zone; without a time it is the last second of the day.

    Args:
        text: the date, with a time and a zone if needed; without a zone it is in UTC.
        allow_past: whether the date may be over.

    Raises:
        GraderError: the text is not a date, its zone is unknown, or it is in the past.
    """
    match = DATE.fullmatch(text.strip())
    if match is None:
        raise GraderError(f"'{one_line(text, 100)}' is not a date: {EXAMPLE}")
    day, clock, zone = match.groups()
    try:
        # A date with an offset is ISO 8601; a name needs the list of time zones.
        is_offset = zone is not None and (zone == "Z" or zone[0] in "+-")
        found = datetime.fromisoformat(f"{day}T{clock or END_OF_DAY}{zone if is_offset else ''}")
        found = found if is_offset else found.replace(tzinfo=ZoneInfo(zone or "UTC"))
        until = found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, KeyError, OverflowError, OSError) as error:
        raise GraderError(f"'{one_line(text, 100)}' is not a date ({one_line(error, 100)}): {EXAMPLE}") from None
    if not allow_past and until < datetime.now(UTC).replace(tzinfo=None):
        raise GraderError(
            f"{shown(until)} is in the past: correct the date, or add --past to forgive a hand-in that was late"
        )
    return until


def extend(
    course_dir: CourseDir, student: str, assignment: str, until: datetime | None, why: str = ""
) -> Iterator[str]:
    """Give a student another due date, and yield lines that say what changed and what to do next.

    Args:
        course_dir: the course folder.
        student: the student's name.
        assignment: the assignment's name.
        until: the due date in UTC; None for that of the assignment.
        why: the reason, for the record.

    Raises:
        GraderError: the student or the assignment is unknown, the assignment has no due date or a later one, there is
            no extension to remove, or the gradebook or the record cannot be written.
    """
    catch_up(course_dir)
    with course_dir.gradebook() as gradebook:
        due = _due(course_dir, gradebook.db, assignment)
        _require_student(gradebook.db, student)
        ledger = ledger_of(gradebook.db, assignment, student=student)
        score = ledger.of(student)
        before = due_for(due, score.extension) if score.extension else None
        if until is not None and until <= due:
            raise GraderError(
                f"{assignment} is due at {shown(due)} for everyone, and {shown(until)} is not later: give a later "
                "date, or remove an extension with --remove"
            )
        if until is None and before is None:
            raise GraderError(f"{one_line(student)} has no extension of {assignment}: there is nothing to remove")
        if until != before:
            _register(course_dir, gradebook, assignment)
            _write(course_dir, gradebook, Entry(
                kind=Kind.EXTENSION, who=account(), student=student, assignment=assignment, before=_iso(before),
                after=_iso(until), why=why,
            ), until - due if until else None, ledger)  # fmt: skip
    yield f"{one_line(student)}: {assignment} is due at {shown(until or due)} (before: {shown(before or due)})"
    if score.handed_in and until != before:
        yield f"run 'grader grade {assignment}': the hand-in of {shown(score.handed_in)} then counts by the new date"


def _write(
    course_dir: CourseDir, gradebook: Gradebook, entry: Entry, extension: timedelta | None, ledger: Ledger
) -> None:
    assert course_dir.record is not None
    gradebook.db.rollback()
    with course_dir.record.recording([entry]):
        if extension is None and entry.student in ledger.pending:
            gradebook.remove_submission(entry.assignment, entry.student)
            return
        # A student who has not handed in gets all rows of a submission, as nbgrader makes them.
        with gradebook.db.no_autoflush:  # nbgrader builds them in an order that a flush in between warns of
            gradebook.update_or_create_submission(entry.assignment, entry.student, extension=extension)
        if entry.student not in ledger.by_student:
            # nothing waits in them, which tells them from written answers that no one has marked yet
            row = api.SubmittedAssignment
            made = select(api.SubmittedNotebook.id).join(row, row.id == api.SubmittedNotebook.assignment_id)
            made = made.join(api.Assignment, api.Assignment.id == row.assignment_id)
            made = made.where(api.Assignment.name == entry.assignment, row.student_id == entry.student)
            gradebook.db.execute(
                update(api.Grade)
                .where(api.Grade.notebook_id.in_(made))
                .values(needs_manual_grade=False)
                .execution_options(synchronize_session=False)
            )
            gradebook.db.commit()


def _due(course_dir: CourseDir, database: Any, assignment: str) -> datetime:
    names = {name: due for name, due in database.execute(select(api.Assignment.name, api.Assignment.duedate))}
    if assignment not in names and assignment not in course_dir.assignments():
        known = sorted({*names, *course_dir.assignments()})
        raise GraderError(f"there is no assignment '{one_line(assignment, 100)}'{_instead(assignment, known)}")
    if (due := names.get(assignment)) is None:
        raise GraderError(
            f"{assignment} has no due date in the gradebook that could be extended: set one with nbgrader db "
            f"assignment add {assignment} --duedate='2026-12-24 18:00:00 UTC'"
        )
    return due


def _register(course_dir: CourseDir, gradebook: Gradebook, assignment: str) -> None:
    """Register the notebooks of an assignment, which nbgrader cannot do once an extension has made a row."""
    if gradebook.find_assignment(assignment).notebooks:
        return
    if assignment not in course_dir.assignments():
        raise GraderError(f"{assignment} has no notebooks yet: put them into source/ first, and extend it then")
    gradebook.db.rollback()
    register(course_dir, assignment)
    gradebook.db.expire_all()


def _require_student(database: Any, student: str) -> None:
    students = set(database.scalars(select(api.Student.id)))
    if student not in students:
        raise GraderError(
            f"the gradebook has no student '{one_line(student, 100)}'{_instead(student, students)}, or add them with "
            "'grader roster'"
        )


def _instead(name: str, known: Collection[str]) -> str:
    """Return the advice after an unknown name, with the closest known one."""
    close = get_close_matches(name, known, 1)
    return f": did you mean '{one_line(close[0], 100)}'? Correct the name" if close else ": correct the name"


def shown(time: datetime) -> str:
    """Return a UTC time as text."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _iso(time: datetime | None) -> str | None:
    return None if time is None else f"{time.isoformat(timespec='seconds')}Z"
