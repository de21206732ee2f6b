"""Adds the students of a roster to the gradebook, all or none.

roster --clash--> error, nothing written; otherwise one transaction: new students, changed names and addresses
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbgrader.api import Student
from sqlalchemy import insert, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.students.enrolled import COLUMNS, read_students
from grader.classroom.students.roster import EnrolledStudent, Roster
from grader.errors import GraderError
from grader.text import one_line


def put_students(course_dir: CourseDir, roster: Roster, note: Callable[[str], None]) -> str:
    """Add the students of a roster to the gradebook or update them, and return a summary.

    An empty cell of the roster changes nothing.

    Args:
        course_dir: the course folder.
        roster: the students.
        note: shows a notice.

    Raises:
        GraderError: the roster has an invalid line, or a different id for a student of the gradebook.
    """
    for line in roster.left_out:
        note(line)
    ids, added, updated = set(roster.require_usable()), [], []
    with course_dir.gradebook() as gradebook:
        known = {student.id: student for student in read_students(gradebook.db)}
        absent = sorted(known.keys() - ids)
        for entry in roster.entries:
            said = {column: text for column in COLUMNS if (text := getattr(entry, column))}
            before = known.get(entry.id)
            known[entry.id] = after = replace(before or EnrolledStudent(entry.id), **said)
            if before is None:
                added.append(dict.fromkeys(COLUMNS) | said)
            elif after != before:
                updated.append(said)
        _require_one_id_each(known.values(), roster)
        if added:
            gradebook.db.execute(insert(Student), added)
        if updated:
            gradebook.db.execute(update(Student), updated)
        gradebook.db.commit()
    if absent:
        note(f"in the gradebook and not in the file: {', '.join(one_line(student, 100) for student in absent)}")
    others = f" ({roster.alternatives})" if roster.id_columns else ""
    changes = f"{len(added)} added, {len(updated)} updated, {len(ids) - len(added) - len(updated)} as before"
    return f"students: {changes}; {roster.path} has {roster.kind}, and the id is {roster.id_column!r}{others}"


def _require_one_id_each(students: Iterable[EnrolledStudent], roster: Roster) -> None:
    """Raise GraderError if one person would become two students, one with the grades and one with the name."""
    owners: dict[tuple[str, str], set[str]] = defaultdict(set)
    for student in students:
        for column in ("id", "email", "lms_user_id"):
            if text := getattr(student, column):
                owners[column, unicodedata.normalize("NFKC", text).casefold()].add(student.id)
    lines = {entry.id: entry.line for entry in roster.entries}
    for (column, text), ids in owners.items():
        if len(ids) > 1 and (listed := sorted(ids & lines.keys())):
            first, *others = [*listed, *sorted(ids - lines.keys())]
            raise GraderError(
                f"line {lines[first]}: {one_line(first)!r} and {one_line(others[0])!r} would have the same {column}, "
                f"{one_line(text)!r}: name the column with the gradebook's ids with --id-column, or correct one"
            )
