"""Puts the students of a roster into the gradebook, all of them or none; grades are never touched.

roster --clashes?--> nothing is written; otherwise one transaction: new students, changed names and addresses
"""

from collections import defaultdict
from dataclasses import asdict, dataclass, field

from nbgrader.api import Student
from sqlalchemy import insert, select, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.students.roster import Roster
from grader.errors import GraderError
from grader.text import one_line

COLUMNS = ("first_name", "last_name", "email", "lms_user_id")


@dataclass
class Changes:
    """The ids of students by what became of them; those who are `absent` are in the gradebook only."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def write_students(course_dir: CourseDir, roster: Roster) -> Changes:
    """Add the students of a roster to the gradebook, and update what it says of those who are there.

    What the roster does not say stays as it is.

    Args:
        course_dir: the course folder.
        roster: the students.

    Raises:
        GraderError: a line was refused, or a student of the gradebook has another id in the roster.
    """
    changes, ids = Changes(), roster.require_usable()
    with course_dir.gradebook() as gradebook:
        columns = [getattr(Student, column) for column in ("id", *COLUMNS)]
        known = {row.id: row._asdict() for row in gradebook.db.execute(select(*columns))}
        changes.absent = sorted(known.keys() - set(ids))
        rows_new, rows_changed = [], []
        for entry in roster.entries:
            said = {column: text for column, text in asdict(entry).items() if column in COLUMNS and text}
            before = known.get(entry.id)
            known[entry.id] = after = dict.fromkeys(COLUMNS) | (before or {"id": entry.id}) | said
            if before is None:
                changes.added.append(entry.id)
                rows_new.append(after)
            elif before == after:
                changes.unchanged.append(entry.id)
            else:
                changes.changed.append(entry.id)
                rows_changed.append(after)
        _require_one_id_each(known, roster)
        if rows_new:
            gradebook.db.execute(insert(Student), rows_new)
        if rows_changed:
            gradebook.db.execute(update(Student), rows_changed)
        gradebook.db.commit()
    return changes


def _require_one_id_each(known: dict[str, dict[str, str | None]], roster: Roster) -> None:
    """Raise GraderError if one person would be two students: with the grades of one, and the names of the other."""
    owners: dict[tuple[str, str], set[str]] = defaultdict(set)
    for student, row in known.items():
        for column in ("email", "lms_user_id"):
            if row[column]:
                owners[column, str(row[column]).casefold()].add(student)
    lines = {entry.id: entry.line for entry in roster.entries}
    for (column, text), students in owners.items():
        if len(students) > 1 and (listed := sorted(students & lines.keys())):
            first, *others = [*listed, *sorted(students - lines.keys())]
            raise GraderError(
                f"line {lines[first]}: {one_line(first)!r} and {one_line(others[0])!r} would have the same {column}, "
                f"{one_line(text)!r}: name the column with the gradebook's ids with --id-column, or correct one"
            )
