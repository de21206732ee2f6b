"""The matrix of an exercise: its answers, the tests that find each of them, and what follows from that."""

from enum import StrEnum

import msgspec

from grader.commands.prove.sentences.leads import Leads
from grader.commands.prove.trivial import ForNothing, for_nothing


class Kind(StrEnum):
    """The kind of an answer, known before grading."""

    MISTAKE = "mistake"
    RIGHT = "right answer"
    MUTANT = "mutant"
    TRIVIAL = "trivial answer"


class AnswerRow(msgspec.Struct):
    """One answer and the tests that it fails.

    `edit` is its difference from the reference, empty for a right answer and a trivial one. `killed_by` are the tests
    in which it lost points. `reason` says why a mutant may survive. `is_undecided` is true if grading did not finish.
    `other_draws` counts, by test, the other draws of its random numbers in which the answer loses points that the
    test's own draw gives it. `messages` are those of assertions, by test, and `named` the mistakes that the diagnosis
    names; both are recorded for a proof of sentences.
    """

    kind: Kind
    name: str
    edit: str = ""
    killed_by: list[str] = []
    reason: str = ""
    is_undecided: bool = False
    other_draws: dict[str, int] = {}
    messages: dict[str, str] = {}
    named: list[str] = []


class Matrix(msgspec.Struct):
    """The rows of one exercise.

    `stale` are the recorded edits that explain no survivor. `draws` is the number of other draws of each test. `points`
    are those of each test. `leads` are what the sentences of the tests say, if they are proven, too.
    """

    assignment: str
    exercise: str
    tests: list[str]
    rows: list[AnswerRow]
    stale: list[str]
    draws: int = 0
    points: dict[str, float] = {}
    leads: Leads | None = None

    def of(self, kind: Kind) -> list[AnswerRow]:
        """Return the rows of one kind."""
        return [row for row in self.rows if row.kind is kind]

    def surviving(self, kind: Kind) -> list[AnswerRow]:
        """Return the rows of one kind that lost no points and have no recorded reason to survive."""
        return [row for row in self.of(kind) if not (row.killed_by or row.reason or row.is_undecided)]

    @property
    def killed_right_answers(self) -> list[AnswerRow]:
        """Right answers that lose points."""
        return [row for row in self.of(Kind.RIGHT) if row.killed_by]

    @property
    def kept_by_luck(self) -> list[AnswerRow]:
        """Right answers, and wrong ones that no test finds, that lose points under other random numbers."""
        return [row for row in self.rows if row.other_draws and (row.kind is Kind.RIGHT or not row.killed_by)]

    @property
    def weak_draws(self) -> list[tuple[str, AnswerRow]]:
        """Tests whose own draw spares a wrong answer that other draws find, by falling number of these draws."""
        pairs = [(test, row) for row in self._wrong() for test in row.other_draws]
        return sorted(pairs, key=lambda pair: pair[1].other_draws[pair[0]], reverse=True)

    @property
    def undecided(self) -> list[AnswerRow]:
        """Rows whose grading did not finish."""
        return [row for row in self.rows if row.is_undecided]

    @property
    def for_nothing(self) -> ForNothing:
        """The points that trivial answers earn."""
        graded = [row for row in self.of(Kind.TRIVIAL) if not row.is_undecided]
        return for_nothing({row.name: row.killed_by for row in graded}, self.points)

    def found(self) -> int:
        """Return the number of wrong answers that lose points."""
        return sum(bool(row.killed_by) for row in self._wrong())

    def kills(self) -> dict[str, int]:
        """Return the number of wrong answers that each test finds."""
        return {test: sum(test in row.killed_by for row in self._wrong()) for test in self.tests}

    def kills_alone(self) -> dict[str, int]:
        """Return the number of wrong answers that each test, and no other, finds."""
        return {test: sum(row.killed_by == [test] for row in self._wrong()) for test in self.tests}

    def depends_on_one_test(self) -> bool:
        """Return True if one test alone finds more than half of what is found."""
        return 2 * max(self.kills_alone().values(), default=0) > self.found()

    def is_proven(self) -> bool:
        """Return True if there are tests, every row ended as it should, and each recorded edit is a survivor's.

        Trivial answers together earn at most a tenth.
        """
        return not (
            not self.tests
            or self.surviving(Kind.MUTANT)
            or self.surviving(Kind.MISTAKE)
            or self.killed_right_answers
            or self.kept_by_luck
            or self.undecided
            or self.stale
            or self.for_nothing.is_too_much
            or (self.leads is not None and not self.leads.are_true())
        )

    def _wrong(self) -> list[AnswerRow]:
        return self.of(Kind.MISTAKE) + self.of(Kind.MUTANT)
