"""Decides who is graded next: one job of a student at a time, and a flood by one student delays no other.

Hand-ins wait by student and notebook. Among the students who wait and are not being graded, the next is the one who has
waited longest: since the last job was taken from them, or since their oldest hand-in arrived, whichever is later.
"""

from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True)
class Ticket:
    """A hand-in that waits: its id, and whose it is of which notebook."""

    id: str
    student: str
    assignment: str
    notebook: str

    @property
    def work(self) -> tuple[str, str]:
        """The assignment and the notebook: a student has one waiting hand-in of each."""
        return self.assignment, self.notebook


@dataclass
class _Line:
    """A student's waiting hand-ins by notebook, with the time of their arrival; the oldest comes first."""

    tickets: dict[tuple[str, str], tuple[int, Ticket]] = field(default_factory=dict)
    served: int = 0
    is_running: bool = False

    def turn(self) -> int:
        """Since when this student waits."""
        return max(self.served, min(arrival for arrival, _ in self.tickets.values()))

    def first(self) -> Ticket:
        return min(self.tickets.values(), key=lambda entry: entry[0])[1]


class FairQueue:
    """The hand-ins that wait. Time is counted in events: an arrival and the start of a job are one each."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._clock = count(1)

    def __len__(self) -> int:
        return sum(len(line.tickets) for line in self._lines.values())

    def add(self, ticket: Ticket) -> Ticket | None:
        """Add a hand-in, and return the one that it supersedes: the student's older one of the same notebook, if any.

        It takes the place of the older one, so that a student who corrects a mistake does not go to the end.
        """
        line = self._lines.setdefault(ticket.student, _Line())
        arrival, older = line.tickets.get(ticket.work, (next(self._clock), None))
        line.tickets[ticket.work] = arrival, ticket
        return older

    def take(self) -> Ticket | None:
        """Take the hand-in that is graded next; None if there is none. Its student's others wait until `done`."""
        lines = [line for line in self._lines.values() if line.tickets and not line.is_running]
        if not lines:
            return None
        line = min(lines, key=_Line.turn)
        ticket = line.first()
        del line.tickets[ticket.work]
        line.served, line.is_running = next(self._clock), True
        return ticket

    def done(self, student: str) -> None:
        """Say that the job of a student has ended."""
        line = self._lines[student]
        line.is_running = False
        if not line.tickets:
            # What is forgotten here decides nothing: a later arrival counts more than an earlier job.
            del self._lines[student]

    def waiting(self, student: str) -> int:
        """Return how many hand-ins of a student wait."""
        return len(self._lines[student].tickets) if student in self._lines else 0

    def place(self, ticket: Ticket) -> int | None:
        """Return the place of a waiting hand-in, 1 for the next one, if nothing else arrives; None if it is not there.

        Each student has one turn in each round, in the order of `take`. So before this hand-in come those of the same
        student that are older, and of every other student as many as have their turns before it.
        """
        own = self._lines.get(ticket.student)
        entry = own.tickets.get(ticket.work) if own is not None else None
        if own is None or entry is None or entry[1] != ticket:
            return None
        turns = sum(arrival < entry[0] for arrival, _ in own.tickets.values())
        place = turns + 1
        for line in self._lines.values():
            if line is not own and line.tickets:
                place += min(len(line.tickets), turns + (line.turn() < own.turn()))
        return place
