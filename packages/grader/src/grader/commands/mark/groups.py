"""Defines groups of identical answers, and what a page shows of one."""

import hashlib
from dataclasses import dataclass

import msgspec

from grader.classroom.gradebook.marks import StudentMark
from grader.classroom.record.entry import Entry


class OpenRequest(msgspec.Struct, frozen=True):
    """A request of a student for a regrade that waits for an answer."""

    id: str
    text: str


class GroupState(msgspec.Struct, frozen=True):
    """What a page shows of a group of identical answers.

    Args:
        group: its id.
        number: its number on the page.
        students: how many students gave this answer; 0 once none has it any more.
        version: changes with the marks and the submissions of its members.
        points: the points that count; None if there are none yet, or if they differ.
        given: the points of a person; None if there are none, or if they differ.
        most: the maximum.
        automatic: the points of the grader; None if there are none.
        extra: the extra credit that the formgrader gave.
        comment: the comment that the student reads.
        waits: whether the answer waits for a person.
        differs: whether its members have different marks.
        is_blank: whether it is as released, or was not handed in.
        by: the person who gave the mark; '' if the record does not say.
        requests: what its students ask to look at again.
    """

    group: str
    number: int
    students: int
    version: str = ""
    points: float | None = None
    given: float | None = None
    most: float = 0.0
    automatic: float | None = None
    extra: float = 0.0
    comment: str = ""
    waits: bool = False
    differs: bool = False
    is_blank: bool = False
    by: str = ""
    requests: tuple[OpenRequest, ...] = ()


@dataclass(frozen=True)
class Group:
    """Students with identical answers: their rows, and their open requests."""

    id: str
    is_blank: bool
    members: tuple[StudentMark, ...]
    requests: tuple[OpenRequest, ...] = ()

    @property
    def version(self) -> str:
        """A digest of all that a mark replaces, and of the submissions that it is about."""
        return hashlib.sha256(repr(self.members).encode()).hexdigest()[:20]


def state_of(group: Group, number: int, authors: dict[str, Entry]) -> GroupState:
    """Return the state of a group with members.

    Args:
        group: the group.
        number: its number on the page.
        authors: the last mark in the record by student.
    """
    first = group.members[0]
    marks = {(each.given, each.score.points, each.comment.text) for each in group.members}
    by = {
        entry.who if (entry := authors.get(each.student)) and entry.after == each.score.manual else ""
        for each in group.members
    }
    is_same = len(marks) == 1
    return GroupState(
        group.id, number, len(group.members), group.version,
        points=first.score.points if is_same and first.score.is_scored else None,
        given=first.score.manual if is_same else None,
        most=first.score.max_points,
        automatic=first.score.auto,
        extra=first.score.extra or 0.0,
        comment=(first.comment.text or "") if is_same else "",
        waits=any(each.score.needs_marking for each in group.members),
        differs=not is_same,
        is_blank=group.is_blank,
        by=by.pop() if is_same and len(by) == 1 and first.score.manual is not None else "",
        requests=group.requests,
    )  # fmt: skip
