"""Puts the students of a roster into the gradebook, all of them or none; grades are never touched.

roster --clashes?--> nothing is written; otherwise one transaction: new students, changed names and addresses
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from nbgrader.api import Student
from sqlalchemy import select
from sqlalchemy.orm import load_only

from grader.classroom.course_dir import CourseDir
from grader.classroom.students.roster import Roster
from grader.errors import GraderError
from grader.text import one_line

COLUMNS = ("first_name", "last_name", "email", "lms_user_id")


def put_students(course_dir: CourseDir, roster: Roster, note: Callable[[str], None]) -> str:
    """Add the students of a roster to the gradebook, or update what it says of them; return in words what has changed.

    What the roster does not say stays as it is.

    Args:
        course_dir: the course folder.
        roster: the students.
        note: shows lines besides.

    Raises:
        GraderError: a line was refused, or a student of the gradebook has another id in the roster.
    """
    for line in (*roster.left_out, *roster.refused):
        note(line)
    ids, count = roster.require_usable(), Counter[str]()
    with course_dir.gradebook() as gradebook:
        # nbgrader's other columns are sums over all grades.
        query = select(Student).options(load_only(Student.id, *(getattr(Student, column) for column in COLUMNS)))
        known = {student.id: student for student in gradebook.db.scalars(query)}
        absent = sorted(known.keys() - set(ids))
        for entry in roster.entries:
            said = {column: text for column in COLUMNS if (text := getattr(entry, column))}
            student = known.get(entry.id)
            is_same = student and all(getattr(student, column) == text for column, text in said.items())
            count["as before" if is_same else "updated" if student else "added"] += 1
            if not student:
                known[entry.id] = student = Student(id=entry.id)
                gradebook.db.add(student)
            for column, text in said.items():
                setattr(student, column, text)
        _require_one_id_each(known.values(), roster)
        gradebook.db.commit()
    if absent:
        note(f"in the gradebook and not in the file: {', '.join(one_line(student, 100) for student in absent)}")
    others = f" (--id-column could name {' or '.join(map(repr, roster.id_columns))})" if roster.id_columns else ""
    changes = ", ".join(f"{count[kind]} {kind}" for kind in ("added", "updated", "as before"))
    return f"students: {changes}; {roster.path} has {roster.kind}, and the id is {roster.id_column!r}{others}"


def _require_one_id_each(students: Iterable[Student], roster: Roster) -> None:
    """Raise GraderError if one person would be two students: with the grades of one, and the names of the other."""
    owners: dict[tuple[str, str], set[str]] = defaultdict(set)
    for student in students:
        for column in ("email", "lms_user_id"):
            if text := getattr(student, column):
                owners[column, text.casefold()].add(student.id)
    lines = {entry.id: entry.line for entry in roster.entries}
    for (column, text), ids in owners.items():
        if len(ids) > 1 and (listed := sorted(ids & lines.keys())):
            first, *others = [*listed, *sorted(ids - lines.keys())]
            raise GraderError(
                f"line {lines[first]}: {one_line(first)!r} and {one_line(others[0])!r} would have the same {column}, "
                f"{one_line(text)!r}: name the column with the gradebook's ids with --id-column, or correct one"
            )
