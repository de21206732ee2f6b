"""Releases feedback pages through nbgrader's exchange, for `nbgrader fetch_feedback`.

feedback/STUDENT/ASSIGNMENT --nbgrader's own ReleaseFeedback--> exchange/COURSE/feedback/HASH.html
"""

import copy
import logging
import stat
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import Exchange as DefaultExchange

from grader.classroom.course_dir import CourseDir
from grader.errors import GraderError
from grader.files import replace_file
from grader.text import one_line


class Exchange:
    """The exchange of a course, nbgrader's own or the one that its configuration names."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        """Take the exchange of a course.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
        """
        self._course_dir, self._assignment = course_dir, assignment
        self._class = ExchangeFactory(config=course_dir.config).release_feedback

    def is_used(self) -> bool:
        """Return whether the course uses the exchange: it has an id, and its folder in nbgrader's own exchange."""
        course = self._course_dir.directory.course_id
        if not course or not issubclass(self._class, DefaultExchange):
            return bool(course)
        return Path(self._class(config=self._course_dir.config).root, course).is_dir()

    def release(self, student: str) -> None:
        """Release the pages of a student as `nbgrader release_feedback` does.

        Args:
            student: the student's name.

        Raises:
            GraderError: nbgrader could not release them; the message has its reason.
        """
        config, said = copy.deepcopy(self._course_dir.config), _LastError()
        log = logging.getLogger("grader.nbgrader.exchange")
        log.addHandler(said)
        try:
            for page in self._course_dir.folder("feedback", self._assignment, student).glob("*.html"):
                _share(page)
            directory = CourseDirectory(config=config, assignment_id=self._assignment, student_id=student)
            self._class(coursedir=directory, config=config, log=log).start()
        except Exception as error:  # any class may be configured
            raise GraderError(one_line(said.text or f"{type(error).__name__}: {error}")) from error
        finally:
            log.removeHandler(said)


def _share(page: Path) -> None:
    """Let all users read a page, because nbgrader copies its permissions along; the names of the copies are secret."""
    if not page.stat().st_mode & stat.S_IROTH:
        replace_file(page, page.read_bytes())  # it may belong to the account of the service
        page.chmod(page.stat().st_mode | stat.S_IRGRP | stat.S_IROTH)


class _LastError(logging.Handler):
    """Keeps what nbgrader logged last as an error, which says more than the exception that follows."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.text = record.getMessage()
