"""Orders hand-ins fairly: one job of a student at a time, so that a flood by one student delays no other.

Hand-ins wait by student and notebook. Among the waiting students without a running job, the next is the one who has
waited longest: since the start of their last job or since the arrival of their oldest hand-in, whichever is later.
"""

from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True)
class Ticket:
    """A waiting hand-in."""

    id: str
    student: str
    assignment: str
    notebook: str

    @property
    def work(self) -> tuple[str, str]:
        """The assignment and the notebook. A student has at most one waiting hand-in of each."""
        return self.assignment, self.notebook


@dataclass
class _Line:
    """A student's waiting hand-ins by notebook, with the times of their arrival."""

    tickets: dict[tuple[str, str], tuple[int, Ticket]] = field(default_factory=dict)
    served: int = 0
    is_running: bool = False

    def turn(self) -> int:
        """Return the event at which this student's turn began."""
        return max(self.served, min(arrival for arrival, _ in self.tickets.values()))

    def first(self) -> Ticket:
        return min(self.tickets.values(), key=lambda entry: entry[0])[1]


class FairQueue:
    """The waiting hand-ins. Time is counted in events: each arrival and each start of a job."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._clock = count(1)

    def __len__(self) -> int:
        return sum(len(line.tickets) for line in self._lines.values())

    def add(self, ticket: Ticket) -> Ticket | None:
        """Add a hand-in, and return the student's older one of the same notebook, which it supersedes, or None.

        It takes the place of the older one, so that a correction does not go to the end of the queue.
        """
        line = self._lines.setdefault(ticket.student, _Line())
        arrival, older = line.tickets.get(ticket.work, (next(self._clock), None))
        line.tickets[ticket.work] = arrival, ticket
        return older

    def take(self) -> Ticket | None:
        """Remove and return the next hand-in, or None. Others of the same student wait until `done`."""
        lines = [line for line in self._lines.values() if line.tickets and not line.is_running]
        if not lines:
            return None
        line = min(lines, key=_Line.turn)
        ticket = line.first()
        del line.tickets[ticket.work]
        line.served, line.is_running = next(self._clock), True
        return ticket

    def done(self, student: str) -> None:
        """Record the end of a student's job."""
        line = self._lines[student]
        line.is_running = False
        if not line.tickets:
            # The time of this job decides nothing any more: any new arrival is later.
            del self._lines[student]

    def waiting(self, student: str) -> int:
        """Return the number of waiting hand-ins of a student."""
        return len(self._lines[student].tickets) if student in self._lines else 0

    def place(self, ticket: Ticket) -> int | None:
        """Return the place of a hand-in, 1 for the next one, if nothing else arrives; None if it does not wait.

        Each student has one turn in each round, in the order of `take`. So this hand-in comes after the student's older
        ones, and after those of every other student that have an earlier turn.
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
