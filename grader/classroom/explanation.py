"""Says what a student's score is made of, from what grading left behind; nothing is graded.

gradebook: points, marks, times, penalties --read_sum--> Sum --+
record of each notebook: messages, causes, repairs ------------+--explanation--> tables and text
completion marker: troubles, remarks --------------------------+
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from nbgrader.api import MissingEntry, SubmittedNotebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.summary import counted
from grader.classroom.records import NotebookRecord, ResultRecord, read_record
from grader.classroom.results import completion_marker
from grader.errors import GraderError
from grader.text import one_line, printable


@dataclass(frozen=True)
class Cell:
    """The gradebook's points of a cell: from the grader, from a person, extra credit, and what counts out of `most`."""

    name: str
    auto: float | None
    manual: float | None
    extra: float | None
    counts: float
    most: float
    needs_marking: bool


@dataclass(frozen=True)
class NotebookSum:
    """The cells of a notebook, and what being late took from it when it was graded."""

    name: str
    cells: list[Cell]
    penalty: float

    @property
    def score(self) -> float:
        """The points of all cells."""
        return sum(cell.counts for cell in self.cells)

    @property
    def most(self) -> float:
        """The points that all cells can give."""
        return sum(cell.most for cell in self.cells)


@dataclass(frozen=True)
class Sum:
    """A student's points in an assignment, and the times (in UTC) on which a late penalty depends."""

    notebooks: list[NotebookSum]
    due: datetime | None
    extension: timedelta | None
    handed_in: datetime | None
    seconds_late: float

    @property
    def score(self) -> float:
        """The points before a late penalty, as nbgrader has them."""
        return sum(notebook.score for notebook in self.notebooks)

    @property
    def penalty(self) -> float:
        """What being late takes from them."""
        return sum(notebook.penalty for notebook in self.notebooks)

    @property
    def exported(self) -> float:
        """The points that `nbgrader export` gives."""
        return max(0.0, self.score - self.penalty)


def read_sum(course_dir: CourseDir, assignment: str, student: str) -> Sum:
    """Read what a student's score is made of.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        student: the student's name.

    Raises:
        GraderError: there is no such assignment, the gradebook has nothing of the student in it, or cannot be read.
    """
    course_dir.require(assignment)
    with course_dir.gradebook() as gradebook:
        try:
            found = gradebook.find_submission(assignment, student)
        except MissingEntry as error:
            raise GraderError(
                f"the gradebook has no score of '{one_line(student)}' in '{assignment}': correct the name, or run "
                f"'grader grade {assignment}' first"
            ) from error
        due = found.assignment.duedate
        notebooks = sorted(map(_notebook_sum, found.notebooks), key=lambda notebook: notebook.name)
        return Sum(notebooks, due, found.extension, found.timestamp, found.total_seconds_late if due else 0.0)


def explanation(course_dir: CourseDir, assignment: str, student: str) -> Iterator[RenderableType]:
    """Yield what to print: each notebook's cells and messages, troubles, and the sum with the late penalty.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        student: the student's name.

    Raises:
        GraderError: there is no such assignment, the gradebook has nothing of the student in it, or cannot be read.
    """
    total, folder = read_sum(course_dir, assignment, student), course_dir.folder("autograded", assignment, student)
    yield Text(one_line(f"{student} in {assignment}"), style="bold")
    for notebook in total.notebooks:
        record = read_record(folder, notebook.name)
        yield _cells(notebook, [test.name for test in record.tests] if record else [])
        if record is None:
            yield Text("No messages are kept: it was not handed in, cannot be read, or an earlier version graded it.")
        else:
            yield from _messages(record)
        yield ""
    marker = completion_marker(course_dir, assignment, student) or {}
    for kind in ("troubles", "remarks"):
        yield from (Text(one_line(f"{kind[:-1]}: {words}")) for words in marker.get(kind, ()))
    yield _sum(course_dir, total)


def _notebook_sum(notebook: SubmittedNotebook) -> NotebookSum:
    cells = [
        Cell(
            grade.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.score, grade.max_score,
            bool(grade.needs_manual_grade),
        )
        for grade in notebook.grades
    ]  # fmt: skip
    return NotebookSum(notebook.name, cells, notebook.late_submission_penalty or 0.0)


def _cells(notebook: NotebookSum, tests: list[str]) -> Table:
    """The points of each cell: tests in their order, and then the answers that a person marks."""
    table = Table(title=Text(one_line(notebook.name)), title_justify="left", show_footer=True)
    table.add_column("cell", "", overflow="fold")
    sums = {"counts": f"{notebook.score:g}", "of": f"{notebook.most:g}"}
    for column in ("tests", "marked", "extra", "counts", "of"):
        table.add_column(column, sums.get(column, ""), justify="right")
    place = {name: number for number, name in enumerate(tests)}
    for cell in sorted(notebook.cells, key=lambda cell: (place.get(cell.name, len(place)), cell.name)):
        points = _points(cell.auto), _marked(cell), _points(cell.extra), f"{cell.counts:g}", f"{cell.most:g}"
        table.add_row(Text(one_line(cell.name)), *points)
    return table


def _marked(cell: Cell) -> str:
    if not cell.needs_marking:
        return _points(cell.manual)
    return "waits" if cell.manual is None else f"{cell.manual:g}, again"


def _messages(record: NotebookRecord) -> Iterator[RenderableType]:
    """What the student read: of tests that lost points, and of those that were judged with our answers."""
    if record.given_up:
        yield Text("Grading did not come to an end: grade this student again with --force.")
    for test in record.tests:
        if test.points < test.max_points or test.explanation.message:
            yield from _message(test)
    yield from (Text(one_line(f"repaired: {repair}")) for repair in record.repairs)


def _message(test: ResultRecord) -> Iterator[RenderableType]:
    yield Text(one_line(f"{test.name}: {test.verdict}, {test.points:g} of {test.max_points:g}"))
    if message := test.explanation.message:
        yield _indented(printable(message))
    yield from (_indented(one_line(f"known mistake: {cause}")) for cause in test.explanation.causes)


def _indented(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, 4))


def _sum(course_dir: CourseDir, total: Sum) -> Table:
    """The sum, and how a late penalty came about."""
    table = Table.grid(padding=(0, 2))
    for name, words in _sum_in_words(course_dir, total):
        table.add_row(name, Text(words))
    return table


def _sum_in_words(course_dir: CourseDir, total: Sum) -> Iterator[tuple[str, str]]:
    cells = [cell for notebook in total.notebooks for cell in notebook.cells]
    waiting = [cell.most for cell in cells if cell.needs_marking]
    yield "points", f"{total.score:g} of {sum(cell.most for cell in cells):g}"
    if waiting:
        yield "waiting", f"{counted(sum(waiting), 'point')}, to be marked by a person"
    if total.due:
        yield "due", _time(total.due)
    if total.extension:
        yield "extension", str(total.extension)
    if total.handed_in:
        yield "handed in", _time(total.handed_in)
    if total.seconds_late:
        yield "late by", str(timedelta(seconds=round(total.seconds_late)))
        yield "rule", _rule(course_dir)
    for notebook in total.notebooks:
        if notebook.penalty:
            yield "late penalty", f"{notebook.penalty:g} in {one_line(notebook.name)}"
    yield "exported", f"{total.exported:g}"


def _rule(course_dir: CourseDir) -> str:
    """The rule for late submissions, by the name of its setting."""
    penalties = AssignLatePenalties(config=course_dir.config)
    plugin = penalties.plugin_class(parent=penalties)
    if type(plugin) is LateSubmissionPlugin:
        return f"c.LateSubmissionPlugin.penalty_method = {plugin.penalty_method!r}"
    return f"c.AssignLatePenalties.plugin_class = {type(plugin).__name__}"


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
