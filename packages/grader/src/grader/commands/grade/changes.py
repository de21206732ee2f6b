"""Says whose points a new grading changes, and by which test.

record or gradebook of before --earlier_tests--> points --compared with a StudentResult--> StudentChange --> tables
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path

from rich.table import Table
from rich.text import Text

from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import CellScore, NotebookScore
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.page.result_files import read_record
from grader.text import one_line

ROWS = 500
"""Rows of one table: rich holds a whole table in memory."""


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
        return self.before is None or bool(self.tests) or not _same(gain(self), 0.0)


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
            if old is None or new is None or not _same(old.points, new.points):
                own = known.get(name, NotebookScore()).cells.get(test, CellScore(0.0))
                change.tests.append(ChangedTest(name, test, old, new, own))
    return change


def tables(assignment: str, changes: Collection[StudentChange]) -> Iterator[Table]:
    """Yield tables of about ROWS rows: student, notebook, test, its points before and after, and the student's total.

    Args:
        assignment: the title.
        changes: the students, in order.
    """
    rows = [row for change in changes if change.is_change for row in _rows(change)]
    for first in range(0, len(rows), ROWS):
        table = Table(title=f"{assignment}: points before → after", title_justify="left")
        for name in ("student", "notebook", "test"):
            table.add_column(name, overflow="fold")
        for name in ("points", "total"):
            table.add_column(name, justify="right", overflow="fold")
        for row in rows[first : first + ROWS]:
            table.add_row(*(Text(one_line(part)) for part in row))
        yield table


def limits_in_words(changed: Collection[ChangedLimit]) -> Iterator[str]:
    """Yield a line for each test that is new, is gone, or can give other points than before.

    Args:
        changed: the tests.
    """
    for notebook, test, before, now in sorted(changed, key=str):
        if before is None:
            yield f"{test} in {notebook} is new, and gives up to {now:g}"
        elif now is None:
            yield f"{test} in {notebook} is gone, and gave up to {before:g}"
        else:
            yield f"{test} in {notebook} gives up to {now:g}, and gave up to {before:g}"


def summary(changes: Collection[StudentChange], students: int) -> str:
    """Return in a line how many students change.

    Args:
        changes: the students who were graded.
        students: how many there are in all.
    """
    new = sum(change.before is None for change in changes)
    gains = [gain(change) for change in changes if change.before and change.is_change]
    gaining = sum(each > 0 and not _same(each, 0.0) for each in gains)
    losing = sum(each < 0 and not _same(each, 0.0) for each in gains)
    kept = len(gains) - gaining - losing
    how = [_counted(gaining, "gain"), _counted(losing, "lose")]
    how += [f"{_counted(kept, 'keep')} the total"] if kept else []
    stay = students - len(gains) - new
    parts = [
        f"{len(gains)} of {students} student{'' if students == 1 else 's'} change{'s' if len(gains) == 1 else ''}"
        + (f": {', '.join(how)}" if gains else ""),
        f"{stay} stay as they are" if stay != 1 else "1 stays as before",
        *([f"{new} graded for the first time"] if new else []),
    ]
    return "; ".join(parts)


def _rows(change: StudentChange) -> Iterator[tuple[str, str, str, str, str]]:
    """The rows of a student; the first has the name and the total."""
    after = change.after.total
    if change.before is None:
        yield change.student, "", "graded for the first time", "", _arrow(None, after.counted)
        return
    before = change.before.total
    who = f"{change.student} (new answers)" if change.has_new_answers else change.student
    total = _arrow(before.counted, after.counted)
    cells = [(each.notebook, each.test, _points(each)) for each in change.tests]
    if not _same(before.penalty, after.penalty):
        cells.append(("", "late penalty", _arrow(before.penalty, after.penalty)))
    for number, cell in enumerate(cells or [("", "", "")]):
        yield (who, *cell, total) if number == 0 else ("", *cell, "")


def _points(change: ChangedTest) -> str:
    marked = "" if change.known.manual is None else f" (marked: {change.known.manual:g})"
    return _arrow(*(cell.points if cell else None for cell in (change.before, change.after))) + marked


def _arrow(before: float | None, after: float | None) -> str:
    return " → ".join("-" if points is None else f"{points:g}" for points in (before, after))


def _counted(number: int, verb: str) -> str:
    return f"{number} {verb}{'s' if number == 1 else ''}"


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=0.0, abs_tol=1e-9)
