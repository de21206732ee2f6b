"""Computes the scores in the gradebook from the grader's and a person's points, by nbgrader's rules.

    NotebookScores (from grading) + NotebookScore (from the gradebook) --> NotebookScore: cells, comments, sums

`GradebookWriter` records it. A worker that renders a page before it is recorded predicts it with the same functions.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from grader.engine.report import Result

NO_RESPONSE = "No response."
"""nbgrader's comment on an answer that is still as released."""


@dataclass(frozen=True)
class NotebookScores:
    """The scores to write for one notebook.

    `results` are those of its tests, by grade_id; `unanswered` are the answers that are still as released;
    `unchanged` returns the written answers whose text is the same as when they were last graded, and is called only if
    a person has marked the notebook.
    """

    results: dict[str, Result]
    unanswered: Collection[str]
    unchanged: Callable[[], Collection[str]] = frozenset


@dataclass(frozen=True)
class StudentScores:
    """The scores to write for one student.

    Args:
        student: the student's name; the gradebook need not have it yet.
        notebooks: the scores by notebook; a notebook of the assignment that is missing scores zero.
        timestamp: the time of the submission; None keeps the time in the gradebook.
        times: the times of notebooks that were handed in alone, on which their late penalties depend.
        keep_others: whether missing notebooks keep their scores in the gradebook. In a new submission, they score
            zero.
    """

    student: str
    notebooks: dict[str, NotebookScores]
    timestamp: datetime | None = None
    times: Mapping[str, datetime] = field(default_factory=dict)
    keep_others: bool = False


@dataclass(frozen=True, slots=True)
class CellScore:
    """A graded cell in the gradebook: the points of the grader and of a person, and extra credit, out of `max_points`.

    `needs_marking` is true until a person marks it. `is_test` is false for a written answer or a task.
    """

    max_points: float
    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    needs_marking: bool = False
    is_test: bool = True

    @property
    def is_scored(self) -> bool:
        """Whether the grader or a person gave points, even 0."""
        return self.auto is not None or self.manual is not None

    @property
    def points(self) -> float:
        """The points that count, 0 if there are none yet."""
        given = self.auto if self.manual is None else self.manual
        # nbgrader adds extra credit only to a cell with points, even 0.
        return 0.0 if given is None else given + (self.extra or 0.0)

    @property
    def is_by_person(self) -> bool:
        """Whether a person set the points, and has nothing new to look at."""
        return self.manual is not None and not self.needs_marking

    def graded(self, name: str, scores: NotebookScores | None) -> "CellScore":
        """Return the gradebook's entry after `scores` are written; None if the notebook was not submitted."""
        auto = None
        if scores is None or name in scores.unanswered:
            auto = 0.0
        elif name in scores.results:
            auto = scores.results[name].points
        needs_marking = self.needs_marking
        # A person may have seen this very text, or these points of the test, already.
        is_same = auto is not None and auto == self.auto
        if scores is None or self.manual is None or not (is_same or name in scores.unchanged()):
            needs_marking = scores is not None and (self.manual is not None or auto is None)
        return replace(self, auto=auto, needs_marking=needs_marking)


@dataclass(frozen=True, slots=True)
class Comment:
    """The comments on an answer in the gradebook: the grader's, and a person's, which counts."""

    auto: str | None = None
    manual: str | None = None

    @property
    def text(self) -> str | None:
        """The comment that is shown."""
        return self.manual or self.auto

    def graded(self, name: str, scores: NotebookScores | None) -> "Comment":
        """Return the gradebook's entry after `scores` are written; None if the notebook was not submitted."""
        return replace(self, auto=NO_RESPONSE if scores is not None and name in scores.unanswered else None)


@dataclass(slots=True)
class NotebookScore:
    """The points of a notebook from tests and written answers, and its late penalty.

    `needs_marking` counts the cells that wait for a person. `cells` and `comments` are empty if only sums were read.
    """

    tests: float = 0.0
    max_tests: float = 0.0
    written: float = 0.0
    max_written: float = 0.0
    needs_marking: int = 0
    penalty: float = 0.0
    cells: dict[str, CellScore] = field(default_factory=dict)
    comments: dict[str, Comment] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: dict[str, CellScore], comments: dict[str, Comment], penalty: float = 0.0) -> "NotebookScore":
        """Return the score of a notebook.

        Args:
            cells: its graded cells, by grade_id.
            comments: the comments on its answers, by grade_id.
            penalty: the late penalty.
        """
        score = cls(penalty=penalty, cells=cells, comments=comments)
        for cell in cells.values():
            score.needs_marking += cell.needs_marking
            if cell.is_test:
                score.tests, score.max_tests = score.tests + cell.points, score.max_tests + cell.max_points
            else:
                score.written, score.max_written = score.written + cell.points, score.max_written + cell.max_points
        return score

    @property
    def points(self) -> float:
        """The points before a penalty, with extra credit."""
        return self.tests + self.written

    @property
    def max_points(self) -> float:
        """The maximum points of all cells."""
        return self.max_tests + self.max_written

    @property
    def counted(self) -> float:
        """The points that count, as `nbgrader export` gives them."""
        return max(0.0, self.points - self.penalty)

    @property
    def marked(self) -> float:
        """The points of the cells that need no marking, after the penalty."""
        return max(0.0, sum(cell.points for cell in self.cells.values() if not cell.needs_marking) - self.penalty)

    @property
    def max_marked(self) -> float:
        """The maximum points of these cells."""
        return sum(cell.max_points for cell in self.cells.values() if not cell.needs_marking)

    @property
    def waiting(self) -> float:
        """The maximum points of the cells that wait for a person."""
        return sum(cell.max_points for cell in self.cells.values() if cell.needs_marking)


def total(scores: Iterable[NotebookScore]) -> NotebookScore:
    """Return the sums of the scores of notebooks."""
    found = NotebookScore()
    for each in scores:
        for name in ("tests", "max_tests", "written", "max_written", "needs_marking", "penalty"):
            setattr(found, name, getattr(found, name) + getattr(each, name))
    return found


@dataclass(frozen=True)
class RegisteredNotebook:
    """The gradebook's entry of a source notebook, by the ids of its cells.

    `graded` are cells with points: their names, and their scores without points. `answered` are the names of those that
    get a comment. nbgrader knows a written answer by two ids, and a task, which has points and a comment, by one.
    `checksums` are those of the released cells, by grade_id.
    """

    name: str
    graded: dict[str, tuple[str, CellScore]]
    answered: dict[str, str]
    checksums: dict[str, str | None]

    def filled(self, score: NotebookScore) -> NotebookScore:
        """Return a score with all cells of the notebook, those missing in the gradebook without points."""
        cells = {name: score.cells.get(name, blank) for name, blank in self.graded.values()}
        comments = {name: score.comments.get(name, Comment()) for name in self.answered.values()}
        return NotebookScore.of(cells, comments, score.penalty)

    def after(self, score: NotebookScore, scores: NotebookScores | None) -> NotebookScore:
        """Return the gradebook's score, before a penalty, after scores are written.

        Args:
            score: the current score; cells may be missing.
            scores: the scores to write; None if the notebook was not submitted.
        """
        before = self.filled(score)
        return NotebookScore.of(
            {name: cell.graded(name, scores) for name, cell in before.cells.items()},
            {name: comment.graded(name, scores) for name, comment in before.comments.items()},
        )


def due_for(due: datetime | None, extension: timedelta | None) -> datetime | None:
    """Return the due date of a student with an extension; None without a due date."""
    return due and due + (extension or timedelta())


def seconds_late(handed_in: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """Return how late a submission is, at least 0; without a due date or a time it is not late."""
    until = due_for(due, extension)
    return max(0.0, (handed_in - until).total_seconds()) if handed_in and until else 0.0
