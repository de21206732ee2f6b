"""Compares a new grading with the one before: whose points change, and by which test.

record or gradebook of before --earlier_notebook--> EarlierNotebook --compared with a StudentResult--> StudentChange
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path

import msgspec

from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import Mark
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.page.records import NotebookRecord, read_record

ChangedLimit = tuple[str, str, float | None, float | None]
"""Notebook and grade_id of a test, and the points that it could give before and can give now; None: no such test."""


@dataclass(frozen=True)
class Points:
    """The points that a test gave, and those that it can give."""

    points: float
    max_points: float


@dataclass(frozen=True)
class EarlierNotebook:
    """The earlier results of a notebook's tests, by grade_id, and its answers if a record has them."""

    tests: dict[str, Points]
    answers: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """The change of a test's points; None before if it is a new test, None after if it is gone.

    `manual` are points given by a person, which count instead of the test's.
    """

    notebook: str
    test: str
    before: float | None
    after: float | None
    manual: float | None = None


@dataclass(slots=True)
class StudentChange:
    """A student's points before and after.

    `before` is None for a student who is graded for the first time; `has_new_answers` is true if the answers changed,
    so the tests may not be the cause.
    """

    student: str
    tests: list[ChangedTest] = field(default_factory=list)
    has_new_answers: bool = False
    before: SubmissionScore | None = None
    after: SubmissionScore = field(default_factory=lambda: SubmissionScore(""))

    @property
    def gain(self) -> float:
        """The points that the student gains, negative if they are lost."""
        if self.before is None or same_points(self.before.counted, self.after.counted):
            return 0.0
        return self.after.counted - self.before.counted

    @property
    def is_change(self) -> bool:
        """True if there is anything to show."""
        return self.before is None or bool(self.tests or self.gain)


def earlier_notebook(
    folder: Path, notebook: str, marks: dict[str, Mark], limits: dict[str, float], tests: Collection[str]
) -> EarlierNotebook | None:
    """Return the earlier results of a notebook; None if it has none.

    Args:
        folder: the student's folder in autograded/.
        notebook: the notebook's name.
        marks: the gradebook's entries on the notebook's cells, for a notebook without a record.
        limits: the points that each graded cell could give then.
        tests: the cells that are tests.
    """
    if (record := read_record(folder, notebook)) is not None:
        judged = {test.name: Points(test.points, test.max_points) for test in record.tests}
        return EarlierNotebook(judged, record.answers)
    judged = {
        test: Points(marks[test].auto or 0.0, max_points)
        for test, max_points in limits.items()
        if test in marks and test in tests
    }
    return EarlierNotebook(judged) if judged else None


def changed_limits(name: str, earlier: EarlierNotebook, now: dict[str, float]) -> set[ChangedLimit]:
    """Return the tests of a notebook whose maximum of points has changed.

    Args:
        name: the notebook's name.
        earlier: the earlier results of the notebook.
        now: the points that each test can give now.
    """
    before = {test: judged.max_points for test, judged in earlier.tests.items()}
    both = before.keys() | now.keys()
    return {(name, test, before.get(test), now.get(test)) for test in both if before.get(test) != now.get(test)}


def compared(
    earlier: dict[str, EarlierNotebook], result: StudentResult, marks: dict[str, dict[str, Mark]]
) -> StudentChange:
    """Return the changes for a student, without the totals.

    Args:
        earlier: the earlier results of the notebooks.
        result: the new result; its notebooks have their texts.
        marks: the gradebook's entries on the cells.
    """
    change = StudentChange(result.student)
    for name in sorted(earlier.keys() | result.graded.keys()):
        before = earlier[name].tests if name in earlier else {}
        if name in result.graded:
            after: dict[str, float] = result.graded[name].points
            answers = msgspec.json.decode(result.graded[name].record, type=NotebookRecord).answers
            change.has_new_answers |= name in earlier and earlier[name].answers not in (None, answers)
        else:
            after = dict.fromkeys(before, 0.0)  # it can no longer be read
        for test in (*after, *(before.keys() - after.keys())):
            old, new = before[test].points if test in before else None, after.get(test)
            if old is None or new is None or not same_points(old, new):
                mark = marks.get(name, {}).get(test, Mark())
                change.tests.append(ChangedTest(name, test, old, new, mark.manual))
    return change


def same_points(one: float, other: float) -> bool:
    """Return True for points that are equal but for rounding."""
    return isclose(one, other, rel_tol=0.0, abs_tol=1e-9)
