"""Writes the pages of an assignment as the gradebook is now, and returns them by each way that a student may use.

gradebook, autograded/ --> feedback/ --+--> returned/ --> grader serve
                                       +--> nbgrader's exchange
"""

from collections.abc import Collection, Iterator

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.record.catch_up import catch_up
from grader.classroom.results import Page, ResultWriter, put_notices
from grader.classroom.returned import ReturnedFolder, ReturnedNotebook, ReturnedWork, now
from grader.classroom.source.inputs import marked_outdated, outdated_in
from grader.commands.feedback.exchange import Exchange
from grader.errors import GraderError
from grader.text import one_line, plural

MAX_NAMES = 10


class Feedback:
    """The feedback on one assignment. `errors` are the reasons why pages were not written or not returned."""

    def __init__(self, course_dir: CourseDir, assignment: str, *, unmarked: bool = False) -> None:
        """Prepare the feedback.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
            unmarked: whether to return work in which an answer waits for a mark.
        """
        self.errors: list[str] = []
        self._course_dir, self._assignment, self._unmarked = course_dir, assignment, unmarked
        self._returned: list[str] = []
        self._waiting: list[str] = []
        self._in_exchange = 0
        self._notes: list[str] = []

    def give(self, only: Collection[str] = ()) -> Iterator[str]:
        """Write and return the pages of all graded students, and yield each error.

        Args:
            only: if not empty, these students only.

        Raises:
            GraderError: there is no such assignment, nothing of it is graded, or the gradebook cannot be read.
        """
        for error in self._given(only):
            self.errors.append(error)
            yield error

    def summary(self) -> Iterator[str]:
        """Yield lines about what was returned to whom."""
        by_exchange = f", {self._in_exchange} of them also through the exchange" if self._in_exchange else ""
        yield f"returned the work of {plural(len(self._returned), 'student')}{by_exchange}"
        yield from self._notes
        if self._waiting:
            names = ", ".join(one_line(name, 100) for name in self._waiting[:MAX_NAMES])
            more = " …" if len(self._waiting) > MAX_NAMES else ""
            yield (
                f"not returned, because answers wait for a mark: {plural(len(self._waiting), 'student')} "
                f"({names}{more}); mark them, or add --unmarked"
            )

    def _given(self, only: Collection[str]) -> Iterator[str]:
        catch_up(self._course_dir)
        self._course_dir.require(self._assignment)
        ledger = read_ledger(self._course_dir, self._assignment)
        with ResultWriter(self._course_dir, self._assignment) as writer:
            graded = [student for student in sorted(ledger.by_student) if writer.graded_notebooks(student)]
            for student in only:
                if student not in graded:
                    raise GraderError(
                        f"nothing of '{one_line(student, 100)}' is graded in {self._assignment}: correct the name, or "
                        f"run 'grader grade {self._assignment}' first"
                    )
            if not graded:
                raise GraderError(
                    f"nothing is graded in {self._assignment}: run 'grader grade {self._assignment}' first"
                )
            for student in (name for name in graded if not only or name in only):
                try:
                    self._give(writer, student)
                except (GraderError, OSError, ValueError) as error:
                    yield f"{student}: the pages could not be written ({one_line(error)})"
        self._notes = list(
            filter(None, (marked_outdated(self._course_dir, ledger), outdated_in(ledger, self._returned)))
        )
        put_notices(self._course_dir, ledger)
        yield from self._release()

    def _give(self, writer: ResultWriter, student: str) -> None:
        folder = ReturnedFolder(self._course_dir.root)
        time, before = now(), folder.of(self._assignment, student)
        known = {name: each.made_of for name, each in before.notebooks.items()} if before else {}
        pages = writer.refresh_pages(student, known)
        if any(page.score.needs_marking for page in pages.values()) and not self._unmarked:
            self._waiting.append(student)
            return
        work = ReturnedWork(time, {name: _entry(page) for name, page in pages.items()})
        folder.give(self._assignment, student, work, {name: page.file for name, page in pages.items()})
        self._returned.append(student)

    def _release(self) -> Iterator[str]:
        """Return the pages by the exchange as well, where the course uses it, and yield errors."""
        exchange = Exchange(self._course_dir, self._assignment)
        if not exchange.is_used():
            return
        for student in self._returned:
            try:
                exchange.release(student)
                self._in_exchange += 1
            except GraderError as error:
                yield f"{student}: not returned through the exchange ({error})"


def _entry(page: Page) -> ReturnedNotebook:
    return ReturnedNotebook.of(page.score, page.made_of)
