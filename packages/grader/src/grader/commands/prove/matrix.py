"""Grades what is known to be right or wrong, and mutants, and keeps which tests find which: the kill matrix.

source/NN-name --> exercises --> rows: mistakes, right answers, mutants --grade, side by side--> Matrix
"""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import msgspec
from nbformat import NotebookNode

from grader.commands.prove import record
from grader.commands.prove.mutation import difference, mutants
from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.files import read_sources
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.repair import Repaired
from grader.engine.report import Report
from grader.engine.sandbox import confinement
from grader.engine.supervisor.pool import side_by_side
from grader.errors import GraderError

CELL_SECONDS, NOTEBOOK_SECONDS = 3, 60
"""Limits of a wrong answer, many of which never end. A right answer has those of the course."""
SHARE = 10
"""A sample holds one row in so many."""
REFERENCE = "reference"


class Kind(StrEnum):
    """The kind of an answer, which is known before it is graded."""

    MISTAKE = "mistake"
    RIGHT = "right answer"
    MUTANT = "mutant"


class Row(msgspec.Struct):
    """One graded answer.

    `edit` is its difference from the reference, and is empty for a right answer. `killed_by` are the tests in which it
    lost points. `reason` says why a mutant may survive. `is_undecided` is true if grading did not come to an end.
    `other_draws` counts, by test, the other draws of its random numbers in which the answer loses the points that the
    test's own draw gives it.
    """

    kind: Kind
    name: str
    edit: str = ""
    killed_by: list[str] = []
    reason: str = ""
    is_undecided: bool = False
    other_draws: dict[str, int] = {}


class Matrix(msgspec.Struct):
    """The rows of one exercise.

    `stale` are the recorded edits that explain no survivor. `draws` is the number of other draws that each test had.
    """

    assignment: str
    exercise: str
    tests: list[str]
    rows: list[Row]
    stale: list[str]
    draws: int = 0

    def of(self, kind: Kind) -> list[Row]:
        """Return the rows of one kind."""
        return [row for row in self.rows if row.kind is kind]

    def surviving(self, kind: Kind) -> list[Row]:
        """Return the rows of one kind that lost no points, without those that an explanation covers."""
        return [row for row in self.of(kind) if not (row.killed_by or row.reason or row.is_undecided)]

    @property
    def killed_right_answers(self) -> list[Row]:
        """Right answers that lose points."""
        return [row for row in self.of(Kind.RIGHT) if row.killed_by]

    @property
    def kept_by_luck(self) -> list[Row]:
        """Right answers, and wrong ones that no test finds, that lose points under other random numbers."""
        return [row for row in self.rows if row.other_draws and (row.kind is Kind.RIGHT or not row.killed_by)]

    @property
    def weak_draws(self) -> list[tuple[str, Row]]:
        """Tests whose own draw spares a wrong answer that other draws find, those first that most draws find."""
        pairs = [(test, row) for row in self._wrong() for test in row.other_draws]
        return sorted(pairs, key=lambda pair: pair[1].other_draws[pair[0]], reverse=True)

    @property
    def undecided(self) -> list[Row]:
        """Rows whose grading did not come to an end."""
        return [row for row in self.rows if row.is_undecided]

    def found(self) -> int:
        """Return how many wrong answers lose points."""
        return sum(bool(row.killed_by) for row in self._wrong())

    def kills(self) -> dict[str, int]:
        """Return how many wrong answers each test finds."""
        return {test: sum(test in row.killed_by for row in self._wrong()) for test in self.tests}

    def kills_alone(self) -> dict[str, int]:
        """Return how many wrong answers each test finds that no other test finds."""
        return {test: sum(row.killed_by == [test] for row in self._wrong()) for test in self.tests}

    def is_thin(self) -> bool:
        """Whether something survives, or one test alone finds more than half of what is found."""
        most = max(self.kills_alone().values(), default=0)
        return bool(self.surviving(Kind.MUTANT)) or 2 * most > self.found()

    def is_proven(self) -> bool:
        """Whether every row ended as it should, and the record explains survivors only."""
        return not (
            self.surviving(Kind.MUTANT)
            or self.surviving(Kind.MISTAKE)
            or self.killed_right_answers
            or self.kept_by_luck
            or self.undecided
            or self.stale
        )

    def _wrong(self) -> list[Row]:
        return [row for row in self.rows if row.kind is not Kind.RIGHT]


@dataclass(frozen=True)
class Case:
    """An exercise and what is known about answers to it: mistakes and right answers by name, reasons by edit."""

    assignment: str
    exercise: str
    source: NotebookNode
    tests: list[str]
    mistakes: dict[str, str]
    right: dict[str, str]
    reasons: dict[str, str]

    @cached_property
    def rows(self) -> list[tuple[Row, str]]:
        """All rows before they are graded, each with the text of its answer."""
        answer = self.right[REFERENCE]
        rows = [(Row(Kind.RIGHT, name), text) for name, text in self.right.items()]
        for name, text in self.mistakes.items():
            rows.append((Row(Kind.MISTAKE, name, difference(answer, text)[1]), text))
        for mutant in mutants(answer, [text for _, text in rows]):
            rows.append((Row(Kind.MUTANT, mutant.name, mutant.edit), mutant.text))
        return rows


@dataclass(frozen=True)
class Prover:
    """How to prove the tests of a course.

    `answers` is the folder of right answers in other styles, ASSIGNMENT/EXERCISE/right-*.py. `only` names the exercises
    to prove, all if it is empty. `tenth` is the seed by which a tenth of the rows is drawn; None draws all. `jobs` rows
    are graded at a time, as many as there are cores if it is 0.
    """

    limits: Limits = field(default_factory=Limits)
    helper_packages: tuple[str, ...] = ()
    answers: Path | None = None
    only: Sequence[str] = ()
    tenth: int | None = None
    jobs: int = 0
    sandbox: bool = True

    def cases(self, folders: Sequence[Path]) -> list[Case]:
        """Return the exercises to prove.

        Args:
            folders: the folders of the assignments in `source/`.

        Raises:
            GraderError: a source, a list of mistakes or a record has a defect, or an exercise in `only` is unknown.
        """
        cases = [case for folder in folders for case in self._of(folder)]
        known = [case.exercise for case in cases]
        for name in self.only:
            if name not in known:
                raise GraderError(f"no exercise is called {name!r}; there is {', '.join(known) or 'none'}")
        return [case for case in cases if not self.only or case.exercise in self.only]

    def matrices(self, cases: Sequence[Case]) -> Iterator[Matrix]:
        """Yield the matrix of each exercise once all its rows are graded.

        Raises:
            GraderError: an answer cannot be read as Python.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        if self.sandbox:
            confinement.check()
        pool = ThreadPoolExecutor(side_by_side(self.jobs))
        try:
            ahead: list[tuple[Case, list[Future[Row]]]] = []
            for case in cases:
                drawn = [(row, text) for row, text in case.rows if self._is_in_sample(case, row)]
                ahead.append((case, [pool.submit(self._graded, case, row, text) for row, text in drawn]))
                if len(ahead) > 1:  # no core waits for the last row of the exercise before
                    yield _matrix(*ahead.pop(0))
            yield from (_matrix(case, futures) for case, futures in ahead)
        finally:
            pool.shutdown(cancel_futures=True)

    def report(
        self,
        source: NotebookNode,
        exercise: str,
        answer: str,
        limits: Limits,
        misconceptions: Sequence[Misconception] = (),
    ) -> Report:
        """Grade an answer to an exercise by the tests in a source.

        Raises:
            SandboxUnavailable: the kernel cannot confine student code.
        """
        submission = Repaired(Outline(source).with_answer(exercise, answer), [])
        report = grade(
            source,
            submission,
            limits,
            sandbox=self.sandbox,
            misconceptions=misconceptions,
            helper_packages=self.helper_packages,
        )
        report.require_confined()
        return report

    def _of(self, folder: Path) -> Iterator[Case]:
        sources = read_sources(folder, self.limits.notebook_mb)
        outlines = [Outline(source) for source in sources.values()]
        names = [exercise for outline in outlines for exercise in outline.coded]
        records, misconceptions = record.load(folder, names), load(folder)
        for outline in outlines:
            for exercise in outline.coded:
                answer = outline.reference(exercise)
                right = {REFERENCE: answer}
                for path in sorted((self.answers / folder.name / exercise).glob("right-*.py")) if self.answers else ():
                    right[path.stem.removeprefix("right-")] = path.read_text(encoding="utf-8")
                mistakes = {each.name: each.apply(answer) for each in misconceptions if each.exercise == exercise}
                yield Case(
                    folder.name, exercise, outline.alone(exercise), outline.scored_tests(exercise), mistakes, right,
                    records.get(exercise, {}),
                )  # fmt: skip

    def _is_in_sample(self, case: Case, row: Row) -> bool:
        """Whether a row is in the sample. The reference always is: without it, no other row says anything."""
        if self.tenth is None or row.name == REFERENCE:
            return True
        text = f"{self.tenth} {case.assignment} {case.exercise} {row.kind} {row.name} {row.edit}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()) % SHARE == 0

    def _graded(self, case: Case, row: Row, answer: str) -> Row:
        limits = self.limits if row.kind is Kind.RIGHT else for_wrong_answers(self.limits)
        report = self.report(case.source, case.exercise, answer, limits)
        row.is_undecided = report.given_up
        if not report.given_up:
            row.killed_by = [result.name for result in report.results if result.points < result.max_points]
        if row.kind is Kind.MUTANT and not row.killed_by:
            row.reason = case.reasons.get(row.edit, "")
        return row


def for_wrong_answers(limits: Limits) -> Limits:
    """Return the course's own limits, shortened so that an answer that never ends costs seconds."""
    return Limits(
        config=limits.config,
        cell_seconds=min(limits.cell_seconds, CELL_SECONDS),
        notebook_seconds=min(limits.notebook_seconds, NOTEBOOK_SECONDS),
    )


def _matrix(case: Case, futures: list[Future[Row]]) -> Matrix:
    rows = [future.result() for future in futures]
    explained = {row.edit for row in rows if row.reason}
    not_drawn = {row.edit for row, _ in case.rows} - {row.edit for row in rows}
    stale = [edit for edit in case.reasons if edit not in explained | not_drawn]
    return Matrix(case.assignment, case.exercise, case.tests, rows, stale)
