"""Finds the student of the gradebook whom a platform means: by its own number, by an id or address, by a name."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from nbgrader.api import Student
from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.classroom.students.roster import Person
from grader.errors import GraderError
from grader.text import one_line


@dataclass(frozen=True)
class Sender:
    """What a platform says of a person: its own number, ids and addresses, and a name.

    `doubts` are the numbers of other persons who may be meant: the name may be split in other places.
    """

    name: str
    lms_user_id: str = ""
    logins: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """Where a file in a platform's archive comes from.

    `key` is the same for all files of a sender. `parts` are the file's own path, as the student named it. `upload`
    grows with every file that is handed in, as far as the platform tells; `is_late` is the platform's opinion.
    """

    key: str
    sender: Sender
    parts: tuple[str, ...]
    upload: int = 0
    is_late: bool = False


def name_key(name: str) -> str:
    """Return the letters and digits of a name: platforms leave out or replace different characters."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in text if character.isalnum())


def read_students(database: Session) -> list[Person]:
    """Return the students in an open gradebook, in nbgrader's order."""
    # As objects of nbgrader, 10,000 students take twice the time, and bring sums over all grades.
    columns = (Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    rows = database.execute(select(*columns).order_by(Student.last_name, Student.first_name, Student.id))
    return [Person(*(text or "" for text in row)) for row in rows]


class People:
    """The students in the gradebook, in nbgrader's order."""

    def __init__(self, people: Iterable[Person]) -> None:
        """Note by what each student can be found."""
        self.by_id = {person.id: person for person in people}
        self._by_number: dict[str, set[str]] = defaultdict(set)
        self._by_login: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for person in self.by_id.values():
            self._by_number[person.lms_user_id].add(person.id)
            for login in (person.id, person.email):
                self._by_login[login.casefold()].add(person.id)
            for parts in ((person.first_name, person.last_name), (person.last_name, person.first_name)):
                self._by_name[name_key("".join(parts))].add(person.id)

    @classmethod
    def of(cls, database: Session) -> "People":
        """Return the students in an open gradebook."""
        return cls(read_students(database))

    def find(self, sender: Sender) -> str:
        """Return the id of the student whom a platform means.

        The platform's number decides, then an id or address, then the name: students may choose their names. A student
        of whom another number or address is known is never found by name. If there are doubts, number and name must be
        those of one student.

        Raises:
            GraderError: there is no such student, or there are several.
        """
        found = set(self._by_number.get(sender.lms_user_id, ()) if sender.lms_user_id else ())
        for login in sender.logins:
            found = found or set(self._by_login.get(login.casefold(), ()) if login else ())
        key = name_key(sender.name)
        named = self._by_name.get(key, set()) if key else set()
        if not found and not sender.doubts:
            has_address = any("@" in login for login in sender.logins)
            found = {
                student
                for student in named
                if not (sender.lms_user_id and self.by_id[student].lms_user_id)
                and not (has_address and self.by_id[student].email)
            }
        others = {student for number in sender.doubts for student in self._by_number.get(number, ())} - found
        if len(found) > 1 or others or (sender.doubts and not found <= named):
            names = ", ".join(one_line(name, 100) for name in sorted(found | others))
            raise GraderError(
                f"it is unclear who is meant, perhaps one of {names}: put what is theirs into submitted/ by hand"
            )
        if not found:
            raise GraderError("the gradebook has no such student: add them with 'grader roster'")
        return found.pop()
