"""A course folder as nbgrader sees one: nbgrader_config.py, source/, release/, submitted/, gradebook.db.

    folder  ->  Classroom  ->  assignments, submissions, nbgrader's converters and gradebook

Where folders lie and how files are named is nbgrader's configuration, not ours.
"""

import glob
import logging
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from nbgrader.api import Gradebook
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import DatabaseError
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, FileConfigLoader, JSONFileConfigLoader, PyFileConfigLoader

from course import new_gradebook
from course.errors import CourseError

CONFIG_FILE = "nbgrader_config.py"


class Classroom:
    """The course folder `root`; raises CourseError where it has no nbgrader_config.py."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not (self.root / CONFIG_FILE).exists():
            raise CourseError(
                f"a course folder holds {CONFIG_FILE}, and there is none in {self.root}: change to your course folder"
            )
        self.config = _config(self.root)
        self.directory = CourseDirectory(config=self.config)
        # nbgrader tells everything it does; what a person must know comes back as an error or in the report.
        self.log = logging.getLogger("course.nbgrader")
        self.log.propagate = False
        self.log.addHandler(logging.NullHandler())

    def run(self, converter: type[BaseConverter], changes: Config, **course: str) -> None:
        """Runs one of nbgrader's converters with `changes` to the configuration, for the assignment, student … named.

        Raises CourseError with the reason, which nbgrader itself tells only its log.
        """
        config = self.config.copy()
        config.merge(changes)
        heard = _Heard()
        self.log.addHandler(heard)
        try:
            directory = CourseDirectory(config=config, **course)
            converter(coursedir=directory, config=config, force=True, log=self.log).start()
        except Exception as error:
            raise CourseError(_in_words(heard.error or error)) from error
        finally:
            self.log.removeHandler(heard)

    def make_gradebook(self) -> None:
        """Makes the gradebook where there is none."""
        with self.gradebook():
            pass

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        """nbgrader's gradebook, to be used in a `with` block; raises CourseError where it cannot be read or written."""
        try:
            new_gradebook.make(self.directory.db_url)
            with Gradebook(self.directory.db_url, self.directory.course_id) as gradebook:
                yield gradebook
        except DatabaseError as error:
            raise CourseError(_in_words(error)) from error

    def folder(self, step: str, assignment: str, student: str = ".") -> Path:
        """The folder of `assignment` at a step: 'source', 'release', 'submitted', 'autograded' or 'feedback'."""
        name = getattr(self.directory, f"{step}_directory")
        return Path(self.directory.format_path(name, student, assignment))

    def assignments(self) -> list[str]:
        """The assignments that source/ holds, in order."""
        folders = self.folder("source", "x").parent.glob("*/")
        return sorted(folder.name for folder in folders if any(folder.glob("*.ipynb")))

    def require(self, assignment: str) -> Path:
        """The source folder of `assignment`; raises CourseError where there is none."""
        known = self.assignments()
        if assignment not in known:
            raise CourseError(f"no assignment '{assignment}' in source/; there is {', '.join(known) or 'none yet'}")
        return self.folder("source", assignment)

    def students(self, assignment: str, only: Collection[str] = ()) -> list[str]:
        """Who submitted `assignment`, in order, or `only` these; raises CourseError where nobody or one did not."""
        pattern = os.path.relpath(self.folder("submitted", assignment, "*"), self.root)
        students = self._submitters(assignment)
        if not students:
            raise CourseError(
                f"no submissions of '{assignment}': put each student's notebooks at {pattern}/ "
                "(* is the student), or run 'nbgrader collect'"
            )
        for student in only:
            if student not in students:
                raise CourseError(
                    f"no submission of '{assignment}' by '{student}': each lies at {pattern}/, where * is the student"
                )
        return [student for student in students if student in only] if only else students

    def _submitters(self, assignment: str) -> list[str]:
        """Whose folders nbgrader would find, wherever its configuration says that they lie."""
        course = self.directory
        where = course.submitted_directory
        found = glob.glob(course.format_path(where, course.student_id, glob.escape(assignment)))
        student = re.compile(course.format_path(where, "(?P<student>[^/]+)", re.escape(assignment), escape=True))
        names = {match["student"] for path in found if os.path.isdir(path) and (match := student.fullmatch(path))}
        return sorted(names - set(course.student_id_exclude.split(",")))


def _config(root: Path) -> Config:
    """As nbgrader's own commands find it: what a machine and a person set for all courses, and then the course's."""
    config = Config()
    for folder in (*reversed(jupyter_config_path()), str(root)):
        for base in ("jupyter_config", "nbgrader_config"):
            for loader in (PyFileConfigLoader(f"{base}.py", folder), JSONFileConfigLoader(f"{base}.json", folder)):
                with suppress(ConfigFileNotFound):
                    config.merge(_loaded(loader))
    return config


def _loaded(loader: FileConfigLoader) -> Config:
    try:
        return loader.load_config()
    except ConfigFileNotFound:
        raise
    except Exception as error:
        # It is Python that people edit: anything can be wrong with it.
        raise CourseError(f"{Path(loader.path) / loader.filename} cannot be read: {_in_words(error)}") from error


def _in_words(error: BaseException) -> str:
    """One line: our own words, or the last of Python's."""
    if isinstance(error, CourseError):
        return str(error)
    if isinstance(error, DatabaseError):
        return (
            f"the gradebook cannot be read or written ({error.orig}): end the program that holds it, or see that its "
            "file may be written and the disk has room, and run this again; who is graded stays graded"
        )
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]


class _Heard(logging.Handler):
    """Keeps the first error whose traceback was logged: the one that stopped a converter."""

    error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.error is None and record.getMessage().lstrip().startswith("Traceback"):
            self.error = sys.exc_info()[1]
