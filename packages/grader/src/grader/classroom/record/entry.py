"""Defines an entry of the record: who changed what, when and why."""

import os
import pwd
import secrets
from datetime import UTC, datetime
from enum import StrEnum

import msgspec
from msgspec.structs import replace

FORMGRADER = "formgrader"
"""`who` of changes that were made in nbgrader's formgrader, which does not say by whom."""
GRADER = "grader"
"""`who` of entries that the record makes by itself."""


class Kind(StrEnum):
    """What an entry says; the values of `before` and `after` depend on it.

    - `mark`: a person's points for a written answer or a task; None for none.
    - `override`: a person's points for a test, which count instead of the test's; None for none.
    - `extra-credit`: a person's extra points for a cell; None for none.
    - `changed`: the points that a test gave to a student who was graded before; None for none.
    - `extension`: the due date of one student in UTC, in ISO format; None for the due date of the assignment.
    - `regrade-request`: no values; `why` is what the student wrote.
    - `answer`: the cell's points before and after; `why` is the text to the student, and `request` the request's id.
    - `rename`: the names of the student, or without a student of the assignment.
    - `removal`: no values; all marks of the student are gone.
    - `repair`: no values; `why` has a line that a program left incomplete when it was killed.
    """

    MARK = "mark"
    OVERRIDE = "override"
    EXTRA_CREDIT = "extra-credit"
    CHANGED = "changed"
    EXTENSION = "extension"
    REGRADE_REQUEST = "regrade-request"
    ANSWER = "answer"
    RENAME = "rename"
    REMOVAL = "removal"
    REPAIR = "repair"


def now() -> datetime:
    """Return the time in UTC, in seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def new_id() -> str:
    """Return an id that no other entry has."""
    return secrets.token_hex(6)


def account() -> str:
    """Return the account that runs this program: the hub's, where a hub started it, or the machine's."""
    if hub_account := os.environ.get("JUPYTERHUB_USER"):
        return hub_account
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the record.

    Args:
        kind: what the entry says.
        who: the account of the person who made the change; `account()` in a command.
        student: the student's name.
        assignment: the assignment's name.
        notebook: the notebook's name.
        cell: the cell's grade_id, which students see, too.
        before: the value before, in the unit of `kind`.
        after: the value after.
        why: the reason, or what a person wrote.
        request: the id of the request that this entry answers.
        time: the time in UTC.
        id: the id of this entry.
    """

    kind: Kind
    who: str
    student: str = ""
    assignment: str = ""
    notebook: str = ""
    cell: str = ""
    before: float | str | None = None
    after: float | str | None = None
    why: str = ""
    request: str = ""
    time: datetime = msgspec.field(default_factory=now)
    id: str = msgspec.field(default_factory=new_id)

    def renamed_by(self, renaming: "Entry") -> "Entry":
        """Return this entry under the new name of its student or assignment.

        Args:
            renaming: a later entry of the kind `rename`.
        """
        before, after = renaming.before, str(renaming.after)
        if not renaming.student:
            return replace(self, assignment=after) if self.assignment == before else self
        if self.student != before:
            return self
        return replace(self, student=after, who=after if self.who == before else self.who)
