"""Grades known mistakes, right answers, mutants and trivial answers, and records which tests find which.

source/NN-name --> exercises --> rows: mistakes, right answers, mutants, trivial answers --grade, side by side--> Matrix
"""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.sources import read_sources
from grader.commands.prove import survivors
from grader.commands.prove.matrix import AnswerRow, Kind, Matrix
from grader.commands.prove.mutation import difference, mutants
from grader.commands.prove.sentences.assertions import Sentence, sentences
from grader.commands.prove.sentences.leads import leads
from grader.commands.prove.trivial import trivial_answers
from grader.engine.diagnosis.misconceptions import Misconception, Tie, load, load_common_ties, load_ties
from grader.engine.explanation import Cause
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.repair import Repaired
from grader.engine.report import Report
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor.pool import side_by_side
from grader.errors import GraderError

CELL_SECONDS, NOTEBOOK_SECONDS = 3, 60
"""Limits of a wrong answer: many never end. A right answer has the limits of the course."""
SHARE = 10
"""A sample holds one row in this many."""
REFERENCE = "reference"


@dataclass(frozen=True)
class ExerciseToProve:
    """An exercise with mistakes and right answers by name, reasons of survivors by edit, and ties of sentences."""

    assignment: str
    name: str
    source: NotebookNode
    tests: list[str]
    mistakes: dict[str, str]
    right: dict[str, str]
    reasons: dict[str, str]
    misconceptions: list[Misconception] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    common_ties: list[Tie] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    """The labels of the notebook's cells whose names nbgrader made up."""

    @cached_property
    def rows(self) -> list[tuple[AnswerRow, str]]:
        """All rows before grading, each with the text of its answer."""
        answer = self.right[REFERENCE]
        rows = [(AnswerRow(Kind.RIGHT, name), text) for name, text in self.right.items()]
        for name, text in self.mistakes.items():
            rows.append((AnswerRow(Kind.MISTAKE, name, difference(answer, text)[1]), text))
        for mutant in mutants(answer, [text for _, text in rows]):
            rows.append((AnswerRow(Kind.MUTANT, mutant.name, mutant.edit), mutant.text))
        rows += [(AnswerRow(Kind.TRIVIAL, name), text) for name, text in trivial_answers(answer)]
        return rows

    @property
    def points(self) -> dict[str, float]:
        """The points of each test."""
        names = [(grade_id(cell), cell) for cell in self.source.cells]
        return {name: cell.metadata.nbgrader.points for name, cell in names if name in self.tests}

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of all tests of the exercise, those without points, too."""
        own = Outline(self.source).exercises[self.name].tests
        cells = [self.source.cells[number] for number in own]
        return [sentence for cell in cells for sentence in sentences(grade_id(cell) or "", cell.source)]


@dataclass(frozen=True)
class Prover:
    """Proves the tests of a course.

    `answers` is the folder of right answers in other styles, ASSIGNMENT/EXERCISE/right-*.py. `only` names the exercises
    to prove; empty: all. `tenth` is the seed by which a tenth of the rows is drawn; None: all rows. `is_trivial_only`
    leaves only trivial answers and the reference. `jobs` rows are graded at a time; 0: one per core. `with_sentences`
    tells whether to prove the sentences of the tests, too. `ignore` are patterns of files that are not released, and
    `files` the files of the assignments, by exercise; `exercises` reads them.
    """

    limits: Limits = field(default_factory=Limits)
    helper_packages: tuple[str, ...] = ()
    answers: Path | None = None
    only: Sequence[str] = ()
    tenth: int | None = None
    is_trivial_only: bool = False
    jobs: int = 0
    sandbox: bool = True
    with_sentences: bool = False
    ignore: Sequence[str] = ()
    files: dict[str, AssignmentFiles] = field(default_factory=dict)

    @property
    def is_sample(self) -> bool:
        """Whether only some rows are graded, which is too little to judge single tests and sentences."""
        return self.tenth is not None or self.is_trivial_only

    def exercises(self, folders: Sequence[Path]) -> list[ExerciseToProve]:
        """Return the exercises to prove.

        Args:
            folders: the folders of the assignments in `source/`.

        Raises:
            GraderError: a source, a list of mistakes or a record has a defect, or an exercise in `only` is unknown.
        """
        exercises = [exercise for folder in folders for exercise in self._of(folder)]
        known = [exercise.labels.get(exercise.name, exercise.name) for exercise in exercises]
        names = {exercise.name for exercise in exercises}
        for name in self.only:
            if name not in (*known, *names):
                raise GraderError(f"no exercise is called {name!r}; known: {', '.join(known) or 'none'}")
        return [
            exercise
            for exercise, label in zip(exercises, known, strict=True)
            if not self.only or exercise.name in self.only or label in self.only
        ]

    def matrices(self, exercises: Sequence[ExerciseToProve]) -> Iterator[Matrix]:
        """Grade all rows, and yield the matrix of each exercise as it is complete.

        Raises:
            GraderError: an answer cannot be read as Python.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        if self.sandbox:
            confinement.check()
        pool = ThreadPoolExecutor(side_by_side(self.jobs))
        try:
            ahead: list[tuple[ExerciseToProve, list[Future[AnswerRow]]]] = []
            for exercise in exercises:
                # Without tests, no answer is right or wrong.
                rows = exercise.rows if exercise.tests else []
                drawn = [(row, text) for row, text in rows if self._is_in_sample(exercise, row)]
                ahead.append((exercise, [pool.submit(self._graded, exercise, row, text) for row, text in drawn]))
                if len(ahead) > 1:  # no core waits for the last row of the exercise before
                    yield self._matrix(*ahead.pop(0))
            yield from (self._matrix(exercise, futures) for exercise, futures in ahead)
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
            assignment_files=self.files.get(exercise),
        )
        report.require_confined()
        return report

    def _of(self, folder: Path) -> Iterator[ExerciseToProve]:
        sources = read_sources(folder, self.limits.notebook_mb, self.limits.config)
        outlines = [Outline(source) for source in sources.values()]
        names = [exercise for outline in outlines for exercise in outline.coded]
        reasons, misconceptions = survivors.load(folder, names), load(folder)
        ties, common = load_ties(folder), load_common_ties(folder.parent)
        self.files.update(dict.fromkeys(names, assignment_files(folder, self.ignore, self.limits)))
        for outline in outlines:
            for exercise in outline.coded:
                answer = outline.reference(exercise)
                right = {REFERENCE: answer}
                for path in sorted((self.answers / folder.name / exercise).glob("right-*.py")) if self.answers else ():
                    right[path.stem.removeprefix("right-")] = path.read_text(encoding="utf-8")
                own = [each for each in misconceptions if each.exercise == exercise]
                mistakes = {each.name: each.apply(answer) for each in own}
                yield ExerciseToProve(
                    folder.name, exercise, outline.alone(exercise), outline.scored_tests(exercise), mistakes, right,
                    reasons.get(exercise, {}), own, ties.get(exercise, []), common, outline.labels,
                )  # fmt: skip

    def _is_in_sample(self, exercise: ExerciseToProve, row: AnswerRow) -> bool:
        """Return True for a row in the sample. The reference always is: without it, no other row says anything.

        Trivial answers are drawn together, for what they earn together counts.
        """
        if row.name == REFERENCE:
            return True
        if self.is_trivial_only and row.kind is not Kind.TRIVIAL:
            return False
        if self.tenth is None:
            return True
        name = "" if row.kind is Kind.TRIVIAL else row.name
        text = f"{self.tenth} {exercise.assignment} {exercise.name} {row.kind} {name} {row.edit}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()) % SHARE == 0

    def limits_for(self, row: AnswerRow) -> Limits:
        """Return the limits of an answer."""
        # A trivial answer calls the reference for its shapes, so it takes as long.
        return self.limits if row.kind in (Kind.RIGHT, Kind.TRIVIAL) else for_wrong_answers(self.limits)

    def _graded(self, exercise: ExerciseToProve, row: AnswerRow, answer: str) -> AnswerRow:
        # A diagnosis takes time, so only the rows with a name of their own are diagnosed.
        diagnosed = exercise.misconceptions if self.with_sentences and row.kind is Kind.MISTAKE else []
        report = self.report(exercise.source, exercise.name, answer, self.limits_for(row), diagnosed)
        row.is_undecided = report.given_up
        if self.with_sentences:
            explained = {result.name: result.explanation for result in report.results}
            row.messages = {test: each.detail for test, each in explained.items() if each.cause is Cause.PROPERTY}
            row.named = [name for each in explained.values() for name in each.causes]
        if not report.given_up:
            row.killed_by = failed(report)
        if row.kind is Kind.MUTANT and not row.killed_by:
            row.reason = exercise.reasons.get(row.edit, "")
        return row

    def _matrix(self, exercise: ExerciseToProve, futures: list[Future[AnswerRow]]) -> Matrix:
        rows = [future.result() for future in futures]
        explained = {row.edit for row in rows if row.reason}
        not_drawn = {row.edit for row, _ in exercise.rows if exercise.tests} - {row.edit for row in rows}
        stale = [edit for edit in exercise.reasons if edit not in explained | not_drawn]
        matrix = Matrix(exercise.assignment, exercise.name, exercise.tests, rows, stale, points=exercise.points)
        if self.with_sentences:
            ties, common = exercise.ties, exercise.common_ties
            matrix.leads = leads(exercise.sentences, ties, common, rows, is_sample=self.is_sample)
        return matrix


def for_wrong_answers(limits: Limits) -> Limits:
    """Return the course's limits, shortened so that an answer that never ends costs seconds."""
    return Limits(
        config=limits.config,
        cell_seconds=min(limits.cell_seconds, CELL_SECONDS),
        notebook_seconds=min(limits.notebook_seconds, NOTEBOOK_SECONDS),
    )


def failed(report: Report) -> list[str]:
    """Return the tests in which an answer lost points."""
    return [result.name for result in report.results if result.points < result.max_points]
