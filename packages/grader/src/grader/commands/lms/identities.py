"""Finds the student of the gradebook whom a platform means: by its own number, by an id or address, by a name."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from nbgrader.api import Student
from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.classroom.students.roster import EnrolledStudent
from grader.errors import GraderError
from grader.text import one_line


@dataclass(frozen=True)
class LmsIdentity:
    """What a platform says of a person: its own number, ids and addresses, and a name.

    `ambiguous_ids` are the numbers of other persons who may be meant: the name may be split in other places.
    """

    name: str
    lms_user_id: str = ""
    logins: tuple[str, ...] = ()
    ambiguous_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArchiveEntryOwner:
    """Where a file in a platform's archive comes from.

    `key` is the same for all files of a sender. `parts` are the file's own path, as the student named it. `upload`
    grows with every file that is handed in, as far as the platform tells; `is_late` is the platform's opinion.
    """

    key: str
    identity: LmsIdentity
    parts: tuple[str, ...]
    upload: int = 0
    is_late: bool = False


def name_key(name: str) -> str:
    """Return the letters and digits of a name: platforms leave out or replace different characters."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in text if character.isalnum())


def read_students(database: Session) -> list[EnrolledStudent]:
    """Return the students in an open gradebook, in nbgrader's order."""
    # As objects of nbgrader, 10,000 students take twice the time, and bring sums over all grades.
    columns = (Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    rows = database.execute(select(*columns).order_by(Student.last_name, Student.first_name, Student.id))
    return [EnrolledStudent(*(text or "" for text in row)) for row in rows]


class EnrolledStudents:
    """The students in the gradebook, in nbgrader's order."""

    def __init__(self, students: Iterable[EnrolledStudent]) -> None:
        """Note by what each student can be found."""
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
        """Return the id of the student whom a platform means.

        The platform's number decides, then an id or address, then the name, because students may choose their names. A
        student with another number or address in the gradebook is never found by name. If the entry has ambiguous ids,
        number and name must belong to the same student.

        Raises:
            GraderError: there is no such student, or there are several.
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
            raise GraderError(
                f"it is unclear who is meant, perhaps one of {names}: put what is theirs into submitted/ by hand"
            )
        if not found:
            raise GraderError("the gradebook has no such student: add them with 'grader roster'")
        return found.pop()
