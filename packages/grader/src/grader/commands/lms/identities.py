"""Finds a platform's user among the students of the gradebook.

LmsIdentity --the platform's number, an id or address, a name--> EnrolledStudent
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from grader.classroom.students.enrolled import read_students
from grader.classroom.students.roster import EnrolledStudent
from grader.errors import GraderError
from grader.text import one_line


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
            # An id decides as it is written, because a folder SAM is not that of sam.
            same = {login} if login in self.by_id else self._by_login.get(login.casefold(), ())
            found = found or set(same if login else ())
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
