"""Lists the requests for a regrade on the terminal, and answers one with the points of the gradebook."""

from collections.abc import Iterator

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import ledger_of
from grader.classroom.record.catch_up import catch_up
from grader.classroom.record.entry import Entry, account
from grader.classroom.record.record import Record
from grader.classroom.record.requests import Request, answer, points_before, requests_of
from grader.classroom.returned import ReturnedFolder
from grader.text import one_line


def lines(course_dir: CourseDir, assignment: str, *, with_answered: bool) -> Iterator[str]:
    """Yield the requests, the oldest first, each with its id, or a line that there are none.

    Args:
        course_dir: the course folder.
        assignment: if not empty, only those of this assignment.
        with_answered: whether to list answered ones, too.

    Raises:
        GraderError: the record cannot be read.
    """
    catch_up(course_dir)  # so that an answer knows the points from before
    found = [
        each for each in requests_of(_record(course_dir).entries(), assignment) if with_answered or each.answer is None
    ]
    for each in found:
        yield from _shown(each)
    if not found:
        yield f"no request {'' if with_answered else 'waits for an answer'}".strip() + (
            f" in {one_line(assignment)}" if assignment else ""
        )


def answered(course_dir: CourseDir, key: str, text: str) -> str:
    """Answer a request with a text and the points of the gradebook, and return a line about it.

    Args:
        course_dir: the course folder.
        key: the id of the request, or the beginning of it.
        text: what the student will read.

    Raises:
        GraderError: there is no such request, the text is empty or too long, or a file cannot be read or written.
    """
    catch_up(course_dir)
    record = _record(course_dir)

    def points(asked: Entry) -> tuple[float | None, float | None]:
        now = _points(course_dir, asked)
        return points_before(record.entries(), asked, now), now

    request = answer(record, key, account(), text, points)
    assert request.answer is not None
    asked = request.asked
    returned = ReturnedFolder(course_dir.root).of(asked.assignment, asked.student) if asked.assignment else None
    again = f"; run 'grader feedback {asked.assignment} --student {asked.student}' so that the page has the points, too"
    return one_line(
        f"answered {asked.student}{request.points}: the student reads it with the report{again if returned else ''}"
    )


def _shown(request: Request) -> Iterator[str]:
    asked = request.asked
    place = "/".join(filter(None, (asked.assignment, asked.notebook, asked.cell)))
    yield one_line(f"{asked.id}  {asked.time:%Y-%m-%d %H:%M} UTC  {asked.student}  {place}")
    yield f"    {one_line(asked.why)}"
    if request.answer is not None:
        yield one_line(f"    answered by {request.answer.who}{request.points}: {request.answer.why}")


def _points(course_dir: CourseDir, asked: Entry) -> float | None:
    """Return the points of the exercise if it is one cell: a written answer or a task."""
    with course_dir.gradebook() as gradebook:
        ledger = ledger_of(gradebook.db, asked.assignment, student=asked.student, cells=True, is_new=True)
    notebook = ledger.of(asked.student).notebooks.get(asked.notebook)
    cell = notebook.cells.get(asked.cell) if notebook else None
    return cell.points if cell and not cell.needs_marking else None


def _record(course_dir: CourseDir) -> Record:
    assert course_dir.record is not None
    return course_dir.record
