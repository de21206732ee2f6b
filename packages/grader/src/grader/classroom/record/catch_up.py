"""Finds marks in the gradebook that no entry explains, and records them.

    record --known_marks--> what it says --+
                                           +--compare--> entries of the differences, by the formgrader
    gradebook --_marks--> what is there ---+

nbgrader's formgrader writes a mark without a word to the record, and does not say who gave it. So every command that
reads scores catches up first, and the entry has the time at which the change was found.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nbgrader import api
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.entry import FORMGRADER, GRADER, Entry, Kind

FOUND = "found in the gradebook, which does not say when it was given"
CELL_IS_GONE = "the cell is no longer in the gradebook"
STUDENT_IS_GONE = "the student is no longer in the gradebook"


class Place(NamedTuple):
    """Where a person gives points: a cell of a student; extra credit is a place of its own."""

    student: str
    assignment: str
    notebook: str
    cell: str
    is_extra: bool = False


MARKS = {Kind.MARK, Kind.OVERRIDE, Kind.EXTRA_CREDIT}


def known_marks(entries: Iterable[Entry]) -> dict[Place, float]:
    """Return the points that people have given by the record, without those that were taken back."""
    known: dict[Place, float] = {}
    for entry in entries:
        if entry.kind in MARKS:
            is_extra = entry.kind is Kind.EXTRA_CREDIT
            place = Place(entry.student, entry.assignment, entry.notebook, entry.cell, is_extra)
            known.pop(place, None)
            if isinstance(entry.after, float):
                known[place] = entry.after
        elif entry.kind is Kind.REMOVAL:
            known = {place: points for place, points in known.items() if place.student != entry.student}
    return known


def catch_up(course_dir: CourseDir) -> list[Entry]:
    """Record the marks that changed without an entry, and return the new entries.

    Args:
        course_dir: the course folder; without a gradebook, nothing happens.

    Raises:
        GraderError: the gradebook or the record cannot be read, or there is a change and it cannot be recorded.
    """
    record = course_dir.record
    if record is None or not course_dir.has_gradebook():
        return []
    with course_dir.gradebook() as gradebook:
        if not _differences(gradebook.db, record.entries()):
            return []
        with record.locked() as append:
            gradebook.db.rollback()  # another program may have written both meanwhile
            new = _differences(gradebook.db, record.entries())
            append(new)
    return new


def _differences(database: Session, entries: Iterable[Entry]) -> list[Entry]:
    """Return an entry for each mark that differs between the gradebook and the record."""
    known, found = known_marks(entries), _marks(database)
    changed = [place for place in sorted(found.keys() | known.keys()) if found.get(place) != known.get(place)]
    if not changed:
        return []
    students, is_test = set(database.scalars(select(api.Student.id))), _is_test(database)
    removed = sorted({place.student for place in changed} - students)
    new = [Entry(kind=Kind.REMOVAL, who=GRADER, student=student, why=STUDENT_IS_GONE) for student in removed]
    for place in (each for each in changed if each.student in students):
        student, assignment, notebook, cell, is_extra = place
        is_there = (assignment, notebook, cell) in is_test
        kind = Kind.OVERRIDE if is_test.get((assignment, notebook, cell)) else Kind.MARK
        new.append(
            Entry(
                kind=Kind.EXTRA_CREDIT if is_extra else kind, who=FORMGRADER if is_there else GRADER, student=student,
                assignment=assignment, notebook=notebook, cell=cell, before=known.get(place), after=found.get(place),
                why=FOUND if is_there else CELL_IS_GONE,
            )
        )  # fmt: skip
    return new


def _marks(database: Session) -> dict[Place, float]:
    """Return the points that people have given by the gradebook; an extra credit of 0 is none."""
    grade, cell, submitted = api.Grade, api.BaseCell.__table__, api.SubmittedAssignment
    query = (
        select(
            submitted.student_id, api.Assignment.name, api.Notebook.name, cell.c.name,
            grade.manual_score, grade.extra_credit,
        )
        .join(cell, cell.c.id == grade.cell_id)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.id == grade.notebook_id)
        .join(api.Notebook, api.Notebook.id == api.SubmittedNotebook.notebook_id)
        .join(submitted, submitted.id == api.SubmittedNotebook.assignment_id)
        .join(api.Assignment, api.Assignment.id == submitted.assignment_id)
        .where(or_(grade.manual_score.is_not(None), grade.extra_credit.is_not(None)))
    )  # fmt: skip
    found = dict[Place, float]()
    for student, assignment, notebook, name, manual, extra in database.execute(query):
        place = Place(student, assignment, notebook, name)
        if manual is not None:
            found[place] = manual
        if extra:
            found[place._replace(is_extra=True)] = extra
    return found


def _is_test(database: Session) -> dict[tuple[str, str, str], bool]:
    """Return whether a cell is a test, by assignment, notebook and grade_id of each cell that gives points."""
    cell, found = api.BaseCell.__table__, dict[tuple[str, str, str], bool]()
    for kind in (api.GradeCell.__table__, api.TaskCell.__table__):
        query = select(api.Assignment.name, api.Notebook.name, cell.c.name, kind.c.cell_type).join_from(
            cell, kind, kind.c.id == cell.c.id
        )
        query = query.join(api.Notebook, api.Notebook.id == cell.c.notebook_id)
        query = query.join(api.Assignment, api.Assignment.id == api.Notebook.assignment_id)
        for assignment, notebook, name, form in database.execute(query):
            found[assignment, notebook, name] = kind is api.GradeCell.__table__ and form == "code"
    return found
