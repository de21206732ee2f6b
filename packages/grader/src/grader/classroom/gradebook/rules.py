"""Decides what the gradebook shows of a cell, from what grading gave and what a person gave, by nbgrader's rules.

    NotebookScores (from grading) + Mark (from the gradebook) --> score, points, needs_marking, comment

`GradebookWriter` records it. A worker that renders a page before it is recorded predicts it with the same functions.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

NO_RESPONSE = "No response."
"""nbgrader's comment on an answer that is still as it was released."""


@dataclass(frozen=True)
class NotebookScores:
    """The scores to write for one notebook.

    `points` are given by test cell; `unanswered` are the answers that are still as they were released; `unchanged`
    returns the written answers with the same text as when they were last graded, and is called only if a person has
    marked the notebook.
    """

    points: dict[str, float]
    unanswered: Collection[str]
    unchanged: Callable[[], Collection[str]] = frozenset


@dataclass(frozen=True)
class StudentScores:
    """The scores to write for one student.

    Args:
        student: the student's name; the gradebook need not have it yet.
        notebooks: the scores by notebook; a notebook of the assignment that is missing scores zero.
        timestamp: when the submission was handed in; None leaves the time that the gradebook has.
        keep_others: whether missing notebooks keep the scores that the gradebook has. In a submission that it does not
            have yet, they score zero all the same.
    """

    student: str
    notebooks: dict[str, NotebookScores]
    timestamp: datetime | None = None
    keep_others: bool = False


@dataclass(frozen=True)
class Mark:
    """The gradebook's entries for a cell: points of the grader and of a person, and the comments of both."""

    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    needs_marking: bool = False
    auto_comment: str | None = None
    manual_comment: str | None = None

    def with_comments_of(self, other: "Mark") -> "Mark":
        """Return this mark with another one's comments."""
        return replace(self, auto_comment=other.auto_comment, manual_comment=other.manual_comment)


@dataclass(frozen=True)
class Shown:
    """What a page shows of a notebook: what the gradebook has for the cells, by grade_id, and the late penalty."""

    cells: dict[str, dict[str, Any]]
    late_penalty: float = 0.0


@dataclass(frozen=True)
class RegisteredNotebook:
    """The gradebook's entry of a source notebook: graded cells (name, points) and answers (name) by their ids.

    `checksums` are those of the released cells, by grade_id.
    """

    name: str
    graded: dict[str, tuple[str, float]]
    answered: dict[str, str]
    checksums: dict[str, str | None]

    def predicted(self, scores: NotebookScores | None, marks: dict[str, Mark]) -> dict[str, dict[str, Any]]:
        """Return what the gradebook will have for the cells once `scores` are written.

        Args:
            scores: what grading gave; None for what the gradebook has now.
            marks: what the gradebook has, by grade_id; cells may be missing.
        """
        new = scores is not None
        cells = {
            name: marked(name, points, marks.get(name, Mark()), scores, is_written=new)[1]
            for name, points in self.graded.values()
        }
        for name in self.answered.values():
            cells.setdefault(name, {})["comment"] = comment(name, marks.get(name, Mark()), scores, is_written=new)[1]
        return cells


def marked(
    cell: str, points: float, mark: Mark, scores: NotebookScores | None, *, is_written: bool = True
) -> tuple[float | None, dict[str, Any]]:
    """Return the grader's points for a cell and what is shown of it.

    Args:
        cell: the grade_id.
        points: the points that the cell can give.
        mark: what the gradebook has.
        scores: what grading gave; None if the notebook was not handed in.
        is_written: false if the cell keeps what the gradebook has.
    """
    auto, needs_marking = mark.auto, mark.needs_marking
    if is_written:
        auto = _auto_score(cell, scores)
        # A person may have already read this very text.
        if scores is None or mark.manual is None or cell not in scores.unchanged():
            needs_marking = scores is not None and (mark.manual is not None or auto is None)
    given = auto if mark.manual is None else mark.manual
    # nbgrader adds extra credit only to a cell that has points, be they 0.
    score = 0.0 if given is None else given + (mark.extra or 0.0)
    return auto, {"score": score, "points": points, "needs_marking": needs_marking}


def comment(
    cell: str, mark: Mark, scores: NotebookScores | None, *, is_written: bool = True
) -> tuple[str | None, str | None]:
    """Return the grader's comment on an answer and the one that is shown; the arguments are those of `marked`."""
    auto = mark.auto_comment
    if is_written:
        auto = NO_RESPONSE if scores is not None and cell in scores.unanswered else None
    return auto, mark.manual_comment or auto


def after_penalty(points: float, penalty: float) -> float:
    """Return the points that are left after a penalty, at least 0."""
    return max(0.0, points - penalty)


def due_for(due: datetime | None, extension: timedelta | None) -> datetime | None:
    """Return the due date of a student with an extension; None without a due date."""
    return due and due + (extension or timedelta())


def seconds_late(handed_in: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """Return how late a submission is, at least 0; without a due date or a time it is not late."""
    until = due_for(due, extension)
    return max(0.0, (handed_in - until).total_seconds()) if handed_in and until else 0.0


def _auto_score(cell: str, scores: NotebookScores | None) -> float | None:
    """The points of a cell without a person's; None while it waits for one."""
    if scores is None or cell in scores.unanswered:
        return 0.0
    return scores.points.get(cell)
