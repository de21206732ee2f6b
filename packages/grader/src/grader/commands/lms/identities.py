"""Reads and writes the gradebook's students: finds a platform's user among them, and adds those of a roster.

LmsIdentity --the platform's number, an id or address, a name--> EnrolledStudent
roster --clash--> error, nothing written; otherwise one transaction: new students, changed names and addresses
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace

from nbgrader.api import Student
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from grader.classroom.course_dir import CourseDir
from grader.classroom.students.roster import EnrolledStudent, Roster
from grader.errors import GraderError
from grader.text import one_line

COLUMNS = [field.name for field in fields(EnrolledStudent)]
"""Columns of nbgrader's table of students."""


@dataclass(frozen=True)
class LmsIdentity:
    """A user of a platform: the platform's number, ids and addresses, and a name.

    `ambiguous_ids` are the numbers of other users who may be the sender if the file's name is split elsewhere. `advice`
    is what to do, besides adding a student, if there is none with this identity.
    """

    name: str
    lms_user_id: str = ""
    logins: tuple[str, ...] = ()
    ambiguous_ids: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True)
class ArchiveEntryOwner:
    """The sender of a file in a platform's archive, with the platform's facts about that file.

    `key` is the same for all files of a sender. `parts` is the path that the student chose. `upload` increases with
    every submitted file if the platform numbers them. `is_late` is the platform's verdict.
    """

    key: str
    identity: LmsIdentity
    parts: tuple[str, ...]
    upload: int = 0
    is_late: bool = False


def name_key(name: str) -> str:
    """Return the letters and digits of a name, because each platform drops or replaces other characters."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in text if character.isalnum())


def read_students(database: Session) -> list[EnrolledStudent]:
    """Return the students in an open gradebook, in nbgrader's order."""
    # As objects of nbgrader, 10,000 students take twice the time, and bring sums over all grades.
    query = select(*(getattr(Student, column) for column in COLUMNS))
    rows = database.execute(query.order_by(Student.last_name, Student.first_name, Student.id))
    return [EnrolledStudent(*(text or "" for text in row)) for row in rows]


class EnrolledStudents:
    """The students in the gradebook, in nbgrader's order."""

    def __init__(self, students: Iterable[EnrolledStudent]) -> None:
        """Index the students by number, login and name."""
        self.by_id = {student.id: student for student in students}
        self._by_number: dict[str, set[str]] = defaultdict(set)
        self._by_login: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for student in self.by_id.values():
            self._by_number[student.lms_user_id].add(student.id)
            for login in (student.id, student.email):
                self._by_login[login.casefold()].add(student.id)
            for parts in ((student.first_name, student.last_name), (student.last_name, student.first_name)):
                self._by_name[name_key("".join(parts))].add(student.id)

    @classmethod
    def of(cls, database: Session) -> "EnrolledStudents":
        """Return the students in an open gradebook."""
        return cls(read_students(database))

    def find(self, identity: LmsIdentity) -> str:
        """Return the id of the student with an identity.

        The platform's number decides, then an id or address, then the name, because students may choose their names. A
        student with another number or address in the gradebook is never found by name. If the entry has ambiguous ids,
        number and name must belong to the same student.

        Raises:
            GraderError: no student or several students match.
        """
        found = set(self._by_number.get(identity.lms_user_id, ()) if identity.lms_user_id else ())
        for login in identity.logins:
            found = found or set(self._by_login.get(login.casefold(), ()) if login else ())
        key = name_key(identity.name)
        named = self._by_name.get(key, set()) if key else set()
        if not found and not identity.ambiguous_ids:
            has_address = any("@" in login for login in identity.logins)
            found = {
                student
                for student in named
                if not (identity.lms_user_id and self.by_id[student].lms_user_id)
                and not (has_address and self.by_id[student].email)
            }
        others = {student for number in identity.ambiguous_ids for student in self._by_number.get(number, ())} - found
        if len(found) > 1 or others or (identity.ambiguous_ids and not found <= named):
            names = ", ".join(one_line(name, 100) for name in sorted(found | others))
            raise GraderError(f"the sender is ambiguous, perhaps one of {names}: put the files into submitted/ by hand")
        if not found:
            advice = f"; {identity.advice}" if identity.advice else ""
            raise GraderError(f"the gradebook has no such student: add them with 'grader roster'{advice}")
        return found.pop()


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
