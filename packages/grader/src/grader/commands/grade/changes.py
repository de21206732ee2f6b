"""Says whose points a new grading changes, and by which test.

record or gradebook of before --earlier_tests--> points --compared with a StudentResult--> StudentChange
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path

from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import CellScore, NotebookScore
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.page.result_files import read_record

ChangedLimit = tuple[str, str, float | None, float | None]
"""Notebook and grade_id of a test, the points that it could give before, and those that it can give now; None for no
such test."""


@dataclass(frozen=True)
class EarlierNotebook:
    """The tests of a notebook as they were judged before, by grade_id, and its answers if a record has them."""

    tests: dict[str, CellScore]
    answers: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A test that gives other points; None before if it is a new test, None after if it is gone.

    `known` is what the gradebook has: if a person gave points, those count instead of the test's.
    """

    notebook: str
    test: str
    before: CellScore | None
    after: CellScore | None
    known: CellScore


@dataclass(slots=True)
class StudentChange:
    """A student's points before and after.

    `before` is None for a student who is graded for the first time; `has_new_answers` is true if answers in the
    notebooks are others than before, so that tests need not be the reason.
    """

    student: str
    tests: list[ChangedTest] = field(default_factory=list)
    has_new_answers: bool = False
    before: SubmissionScore | None = None
    after: SubmissionScore = field(default_factory=lambda: SubmissionScore(""))

    @property
    def is_change(self) -> bool:
        """Whether there is anything to show."""
        return self.before is None or bool(self.tests) or not same_points(gain(self), 0.0)


def gain(change: StudentChange) -> float:
    """Return the points that a student gains, negative if they are lost."""
    return change.after.total.counted - change.before.total.counted if change.before else 0.0


def earlier_notebook(
    folder: Path, notebook: str, known: NotebookScore, limits: NotebookScore, tests: Collection[str]
) -> EarlierNotebook | None:
    """Return how a notebook was judged before; None if it was not.

    Args:
        folder: the student's folder in autograded/.
        notebook: the notebook's name.
        known: what the gradebook has of the notebook, for a notebook without a record.
        limits: its graded cells, with the points that each of them could give then.
        tests: those of them that are tests.
    """
    if (record := read_record(folder, notebook)) is not None:
        judged = {test.name: CellScore(test.max_points, test.points) for test in record.tests}
        return EarlierNotebook(judged, record.answers)
    judged = {
        test: CellScore(cell.max_points, known.cells[test].auto or 0.0)
        for test, cell in limits.cells.items()
        if test in known.cells and test in tests
    }
    return EarlierNotebook(judged) if judged else None


def changed_limits(name: str, earlier: EarlierNotebook, now: dict[str, float]) -> set[ChangedLimit]:
    """Return the tests of a notebook that can give other points than before.

    Args:
        name: the notebook's name.
        earlier: the notebook as it was judged before.
        now: the points that each test can give now.
    """
    before = {test: cell.max_points for test, cell in earlier.tests.items()}
    both = before.keys() | now.keys()
    return {(name, test, before.get(test), now.get(test)) for test in both if before.get(test) != now.get(test)}


def compared(
    earlier: dict[str, EarlierNotebook], result: StudentResult, known: dict[str, NotebookScore]
) -> StudentChange:
    """Return what changes for a student, without the totals.

    Args:
        earlier: how the notebooks were judged before.
        result: the new result; its notebooks have their texts.
        known: what the gradebook has, by notebook.
    """
    change = StudentChange(result.student)
    for name in sorted(earlier.keys() | result.graded.keys()):
        before = earlier[name].tests if name in earlier else {}
        if name in result.graded:
            record = result.graded[name].record
            after = {test.name: CellScore(test.max_points, test.points) for test in record.tests}
            change.has_new_answers |= name in earlier and earlier[name].answers not in (None, record.answers)
        else:
            # It cannot be read any more.
            after = {test: CellScore(cell.max_points, 0.0) for test, cell in before.items()}
        for test in (*after, *(before.keys() - after.keys())):
            old, new = before.get(test), after.get(test)
            if old is None or new is None or not same_points(old.points, new.points):
                own = known.get(name, NotebookScore()).cells.get(test, CellScore(0.0))
                change.tests.append(ChangedTest(name, test, old, new, own))
    return change


def same_points(one: float, other: float) -> bool:
    """Return True for points that are equal but for rounding."""
    return isclose(one, other, rel_tol=0.0, abs_tol=1e-9)
