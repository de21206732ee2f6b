"""Shows a class run on a terminal: a progress bar, and then the table of scores."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.classroom.class_run import ClassRun
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.graders import Graders
from grader.commands.grade.scores import tables


def grade_and_show(run: ClassRun, graders: Graders | None = None) -> int:
    """Grade a class with a progress bar, print the table of its scores, and return the exit status.

    Args:
        run: how to grade it.
        graders: where; by default on this machine.
    """
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    remarks, status = {}, 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"grading {run.assignment}", total=run.student_count())
        for result in run.outcomes(graders):
            progress.advance(task)
            remarks[result.student] = "; ".join((*result.troubles, *result.remarks))
            status |= bool(result.troubles)
    recorded_scores = read_ledger(run.course_dir, run.assignment).by_student
    students = recorded_scores.keys() & remarks.keys() if run.only else recorded_scores.keys()
    for table in tables(run.assignment, {student: recorded_scores[student] for student in students}, remarks):
        console.print(table)
    return status
