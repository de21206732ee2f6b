"""Shows the scores of a class as tables."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from grader.classroom.gradebook.reader import SubmissionScore
from grader.text import one_line, span

ROWS = 500
"""Students in one table: rich holds a whole table in memory, in ten times the space of its text."""


def tables(assignment: str, student_scores: dict[str, SubmissionScore], remarks: dict[str, str]) -> Iterator[Table]:
    """Yield tables of at most ROWS students, with a row for each: points from tests, points from marking, remarks.

    Args:
        assignment: the title.
        student_scores: the scores by student.
        remarks: what else to say of students; those without a score have a row too.
    """
    students = sorted(student_scores.keys() | remarks.keys())
    for first in range(0, len(students), ROWS):
        table = Table(title=assignment, title_justify="left")
        table.add_column("student", overflow="fold")
        table.add_column("tests", justify="right", overflow="fold")
        table.add_column("written", justify="right", overflow="fold")
        table.add_column("", overflow="fold")
        for student in students[first : first + ROWS]:
            table.add_row(Text(one_line(student)), *_row(student_scores.get(student), remarks.get(student, "")))
        yield table


def _row(score: SubmissionScore | None, remark: str) -> tuple[str, str, Text]:
    if score is None:
        return "-", "-", Text(one_line(remark))
    late = _lateness(score.seconds_late, score.penalty) if score.seconds_late else ""
    waiting = "written answers wait for marking" if score.needs_marking else ""
    return (
        f"{score.tests:g} / {score.max_tests:g}",
        f"{score.written:g} / {score.max_written:g}",
        Text(one_line("; ".join(filter(None, (remark, late, waiting))))),
    )


def _lateness(seconds: float, penalty: float) -> str:
    cost = f", {penalty:g} points taken off" if penalty else ""
    return f"{span(seconds)} late{cost}"
