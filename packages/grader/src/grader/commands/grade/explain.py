"""Explains a student's score from the stored results; nothing is graded.

gradebook: points, marks, times, penalties --ledger_of---+
result of each notebook: messages, causes, repairs ------+--explanation--> tables and text
completion marker: troubles, remarks --------------------+
record of the course: who changed which mark ------------+
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.reader import SubmissionScore, ledger_of
from grader.classroom.gradebook.rules import CellScore, NotebookScore, due_for
from grader.classroom.page.result_files import NotebookRecord, read_record
from grader.classroom.record.catch_up import catch_up
from grader.classroom.results import completion_marker
from grader.classroom.source.inputs import marked_outdated, outdated_in
from grader.commands.grade.history import history
from grader.engine.report import Result
from grader.errors import GraderError
from grader.text import one_line, plural, printable


def explanation(course_dir: CourseDir, assignment: str, student: str) -> Iterator[RenderableType]:
    """Yield the output: each notebook's cells and messages, troubles, the sum with the late penalty, and the history.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        student: the student's name.

    Raises:
        GraderError: the assignment does not exist, or the gradebook has no score of the student or cannot be read.
    """
    course_dir.require(assignment)
    catch_up(course_dir)
    with course_dir.gradebook() as gradebook:
        ledger = ledger_of(gradebook.db, assignment, student=student, cells=True, is_new=True)
    if student not in ledger.by_student:
        is_missing = student in ledger.students and not course_dir.folder("submitted", assignment, student).exists()
        to_do = f"correct the name, or run 'grader grade {assignment}' first"
        raise GraderError(
            f"the gradebook has no score of '{one_line(student)}' in '{assignment}': "
            + ("nothing was handed in" if is_missing else to_do)
        )
    unknown, score = marked_outdated(course_dir, ledger), ledger.of(student)
    folder = course_dir.folder("autograded", assignment, student)
    yield Text(one_line(f"{student} in {assignment}"), style="bold")
    for name, notebook in sorted(score.notebooks.items()):
        record = read_record(folder, name)
        yield _cells(name, notebook, record.tests if record else [])
        if record is None:
            yield Text("No messages are kept: it was not handed in, cannot be read, or an earlier version graded it.")
        else:
            yield from _messages(record)
        yield ""
    marker = completion_marker(course_dir, assignment, student) or {}
    for kind in ("troubles", "remarks"):
        yield from (Text(one_line(f"{kind[:-1]}: {sentence}")) for sentence in marker.get(kind, ()))
    for sentence in filter(None, (unknown, outdated_in(ledger))):
        yield Text(one_line(sentence))
    table = Table.grid(padding=(0, 2))
    for title, value in _sum(course_dir, score, ledger.due):
        table.add_row(title, Text(value))
    yield table
    entries = course_dir.record.entries() if course_dir.record else []
    if (changes := history(entries, assignment, student)) is not None:
        yield Text("history", style="italic")
        yield changes


def _cells(name: str, notebook: NotebookScore, tests: list[Result]) -> Table:
    """Return the points of each cell: tests in their order, then the answers that a person marks.

    A test that shared a process with the student's code is marked, because that code could read and change it.
    """
    table = Table(title=Text(one_line(name)), title_justify="left", show_footer=True)
    table.add_column("cell", "", overflow="fold")
    sums = {"counts": f"{notebook.points:g}", "of": f"{notebook.max_points:g}"}
    for column in ("tests", "marked", "extra", "counts", "of"):
        table.add_column(column, sums.get(column, ""), justify="right")
    place = {test.name: number for number, test in enumerate(tests)}
    together = {test.name for test in tests if test.together}
    for cell, score in sorted(notebook.cells.items(), key=lambda each: (place.get(each[0], len(place)), each[0])):
        points = _points(score.auto), _marked(score), _points(score.extra), f"{score.points:g}", f"{score.max_points:g}"
        table.add_row(Text(one_line(f"{cell} (judged together)" if cell in together else cell)), *points)
    return table


def _marked(cell: CellScore) -> str:
    if not cell.needs_marking:
        return _points(cell.manual)
    return "waits" if cell.manual is None else f"{cell.manual:g}, again"


def _messages(record: NotebookRecord) -> Iterator[RenderableType]:
    """Yield the student's messages of tests that lost points or were judged with our answers."""
    if record.given_up:
        yield Text("Grading did not finish: grade this student again with --force.")
    for test in record.tests:
        if test.points < test.max_points or test.explanation.message:
            yield from _message(test)
    yield from (Text(one_line(f"repaired: {repair}")) for repair in record.repairs)


def _message(test: Result) -> Iterator[RenderableType]:
    yield Text(one_line(f"{test.name}: {test.verdict}, {test.points:g} of {test.max_points:g}"))
    if message := test.explanation.message:
        yield _indented(printable(message))
    if test.ending is not None:
        line = f"line {test.ending.line}: {test.ending.text}: " if test.ending.line else ""
        yield _indented(one_line(f"{line}{test.ending.reason}"))
    if test.seeds:
        yield _indented(f"torch.Generator.seed gave {', '.join(map(str, test.seeds))}")
    yield from (_indented(one_line(f"known mistake: {cause}")) for cause in test.explanation.causes)


def _indented(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, 4))


def _sum(course_dir: CourseDir, score: SubmissionScore, due: datetime | None) -> Iterator[tuple[str, str]]:
    """Yield the rows of the sum and of the late penalty: title and value."""
    yield "points", f"{score.total.points:g} of {score.total.max_points:g}"
    if score.total.needs_marking:
        waiting = sum(notebook.waiting for notebook in score.notebooks.values())
        yield "waiting", f"{plural(waiting, 'point')}, to be marked by a person"
    if due:
        yield "due", _time(due)
    if score.extension and (own := due_for(due, score.extension)):
        yield "extended to", _time(own)
    if score.handed_in:
        yield "handed in", _time(score.handed_in)
    if score.seconds_late:
        yield "late by", str(timedelta(seconds=round(score.seconds_late)))
        yield "rule", LatePenalty(course_dir.config).setting
    for name, notebook in sorted(score.notebooks.items()):
        if notebook.penalty:
            yield "late penalty", f"{notebook.penalty:g} in {one_line(name)}"
    yield "exported", f"{score.total.counted:g}"


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
