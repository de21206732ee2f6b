"""Shows a class run on a terminal: a progress bar, and then the table of scores."""

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.classroom.class_run import ClassRun
from grader.classroom.gradebook.reader import SubmissionScore, read_ledger
from grader.classroom.graders import Graders
from grader.text import one_line, span

ROWS = 500
"""Students in one table: rich holds a whole table in memory, in ten times the space of its text."""


def grade_and_show(run: ClassRun, graders: Graders | None = None) -> int:
    """Grade a class with a progress bar, print the table of its scores, and return the exit status.

    Args:
        run: how to grade it.
        graders: where; by default on this machine.
    """
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    notices, status = {}, 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"grading {run.assignment}", total=run.student_count())
        for result in run.outcomes(graders):
            progress.advance(task)
            notices[result.student] = "; ".join((*result.errors, *result.notices))
            status |= bool(result.errors)
    recorded_scores = read_ledger(run.course_dir, run.assignment).by_student
    students = recorded_scores.keys() & notices.keys() if run.only else recorded_scores.keys()
    for table in tables(run.assignment, {student: recorded_scores[student] for student in students}, notices):
        console.print(table)
    return status


def tables(assignment: str, student_scores: dict[str, SubmissionScore], notices: dict[str, str]) -> Iterator[Table]:
    """Yield tables of at most ROWS students, with a row for each: points from tests, points from marking, notices.

    Args:
        assignment: the title.
        student_scores: the scores by student.
        notices: what else to say of students; those without a score have a row too.
    """
    students = sorted(student_scores.keys() | notices.keys())
    for first in range(0, len(students), ROWS):
        table = Table(title=assignment, title_justify="left")
        table.add_column("student", overflow="fold")
        table.add_column("tests", justify="right", overflow="fold")
        table.add_column("written", justify="right", overflow="fold")
        table.add_column("", overflow="fold")
        for student in students[first : first + ROWS]:
            table.add_row(Text(one_line(student)), *_row(student_scores.get(student), notices.get(student, "")))
        yield table


def _row(score: SubmissionScore | None, notice: str) -> tuple[str, str, Text]:
    if score is None:
        return "-", "-", Text(one_line(notice))
    total = score.total
    late = _lateness(score.seconds_late, total.penalty) if score.seconds_late else ""
    waiting = "written answers wait for marking" if total.needs_marking else ""
    return (
        f"{total.tests:g} / {total.max_tests:g}",
        f"{total.written:g} / {total.max_written:g}",
        Text(one_line("; ".join(filter(None, (notice, late, waiting))))),
    )


def _lateness(seconds: float, penalty: float) -> str:
    cost = f", {penalty:g} points taken off" if penalty else ""
    return f"{span(seconds)} late{cost}"
