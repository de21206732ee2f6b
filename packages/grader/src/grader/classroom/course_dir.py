"""Gives access to a course folder as nbgrader sees it: nbgrader_config.py, source/, release/, submitted/, gradebook.db.

    folder  ->  CourseDir  ->  assignments, submissions, nbgrader's converters and gradebook

nbgrader's configuration alone decides where folders are and how files are named.
"""

import copy
import logging
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import nbgrader
from nbformat import NotebookNode
from nbgrader.api import Base, Gradebook
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import SchemaTooOldError
from sqlalchemy import Engine, create_engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError
from traitlets.config import Config

from grader.classroom.config import helper_packages, load_config
from grader.classroom.record.record import Record
from grader.classroom.record.unfinished import require_finished
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.errors import GraderError, UnreadableFile
from grader.text import DISTRIBUTION, one_line

POSTGRES = "postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
MAX_NAMES = 5
"""Number of students that an error names."""
MIGRATIONS = Path(nbgrader.__file__).parent / "alembic"


class CourseDir:
    """A course folder, with its configuration.

    `record` is the record of its marks; None for a copy of the gradebook, whose marks are not the course's.
    """

    def __init__(self, root: Path, config: Config | None = None, *, finishing: bool = False) -> None:
        """Read the configuration of a course folder.

        Args:
            root: the course folder.
            config: the configuration that an nbgrader program has already read, including its command line.
            finishing: whether the caller finishes a change of names that was interrupted.

        Raises:
            GraderError: the folder has no nbgrader_config.py, a configuration file cannot be read, a helper package
                cannot be found, or a change of names was interrupted.
            TraitError: a setting has a wrong type.
        """
        self.root = root.resolve()
        self.config = load_config(self.root) if config is None else copy.deepcopy(config)
        if "root" not in self.config.CourseDirectory:
            # nbgrader's own default is the working folder, which may be a folder of the course.
            self.config.CourseDirectory.root = str(self.root)
        self.helper_packages = helper_packages(self.config)
        if not finishing:
            require_finished(self.root)
        self.record: Record | None = Record(self.root)
        self.directory = CourseDirectory(config=self.config)
        # nbgrader logs everything that it does. Errors and reports hold the important part.
        self.log = logging.getLogger("grader.nbgrader")
        self.log.propagate = False
        self.log.addHandler(logging.NullHandler())

    def with_gradebook(self, url: str) -> "CourseDir":
        """Return this course folder with a different gradebook, and without a record.

        Args:
            url: the database URL.
        """
        twin = copy.copy(self)
        twin.record = None
        twin.config = copy.deepcopy(self.config)
        twin.config.CourseDirectory.db_url = url
        twin.directory = CourseDirectory(config=twin.config)
        return twin

    def run(self, converter: type[BaseConverter], changes: Config, **course: str) -> None:
        """Run one of nbgrader's converters.

        Args:
            converter: the converter's class.
            changes: settings that differ from the course's configuration.
            course: settings of nbgrader's CourseDirectory, such as `assignment_id`.

        Raises:
            GraderError: the converter failed; the message has the reason, which nbgrader only logs.
        """
        config = copy.deepcopy(self.config)
        config.merge(changes)
        first_error = _FirstError()
        self.log.addHandler(first_error)
        try:
            directory = CourseDirectory(config=config, **course)
            converter(coursedir=directory, config=config, force=True, log=self.log).start()
        except Exception as error:
            raise GraderError(_one_line(first_error.error or error)) from error
        finally:
            self.log.removeHandler(first_error)

    def has_gradebook(self) -> bool:
        """Return True if there is a gradebook; to open a missing file of SQLite would create it."""
        address = make_url(self.directory.db_url)
        file = (address.database or "").removeprefix("file:")
        return address.get_backend_name() != "sqlite" or Path(file).exists()

    def make_gradebook(self) -> None:
        """Create the gradebook if it is missing; raise GraderError if it cannot be read or written."""
        with self.gradebook():
            pass

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        """Open nbgrader's gradebook for a `with` block.

        Raises:
            GraderError: the gradebook cannot be opened, or cannot be read or written in the block.
        """
        try:
            make_tables(self.directory.db_url)
            with Gradebook(self.directory.db_url, self.directory.course_id) as gradebook:
                yield gradebook
        except DatabaseError as error:
            raise GraderError(_one_line(error)) from error

    def folder(self, step: str, assignment: str, student: str = ".") -> Path:
        """Return the folder of an assignment at one step.

        Args:
            step: 'source', 'release', 'submitted', 'autograded' or 'feedback'.
            assignment: the assignment's name.
            student: the student's name, for the last three steps.
        """
        name = getattr(self.directory, f"{step}_directory")
        return Path(self.directory.format_path(name, student, assignment))

    def assignments(self) -> list[str]:
        """Return the names of the assignments in source/, in order."""
        folders = self.folder("source", "x").parent.glob("*/")
        return sorted(folder.name for folder in folders if any(folder.glob("*.ipynb")))

    def require(self, assignment: str) -> Path:
        """Return the source folder of an assignment; raise GraderError if there is none."""
        assignments = self.assignments()
        if assignment not in assignments:
            names = ", ".join(assignments) or "none yet"
            raise GraderError(f"no assignment '{assignment}' in source/, which has {names}")
        return self.folder("source", assignment)

    def students(self, assignment: str, only: Collection[str] = ()) -> list[str]:
        """Return the names of the students who submitted an assignment, in order.

        Args:
            assignment: the assignment's name.
            only: if not empty, return these students only.

        Raises:
            GraderError: there are no submissions, or none by a student in `only`.
        """
        pattern = os.path.relpath(self.folder("submitted", assignment, "*"), self.root)
        students = self.submitters(assignment)
        if not students:
            others = [one_line(name, 100) for name in self.known_students(assignment)]
            more = " …" if len(others) > MAX_NAMES else ""
            present = f"; submitted/ has only other files of {', '.join(others[:MAX_NAMES])}{more}" if others else ""
            raise GraderError(
                f"no submissions of '{assignment}': put each student's notebooks into {pattern}/ "
                f"(* is the student), or run 'nbgrader collect'{present}"
            )
        for student in only:
            if student not in students:
                raise GraderError(
                    f"no submission of '{assignment}' by '{student}': correct the name, or put the notebooks into "
                    f"{pattern}/ (* is the student)"
                )
        return [student for student in students if student in only] if only else students

    def handed_in(self, assignment: str, student: str) -> SubmissionFolder:
        """Return the folder of a submission."""
        return SubmissionFolder(
            self.folder("submitted", assignment, student), folder_of_students(self.directory, assignment)
        )

    def submitters(self, assignment: str) -> list[str]:
        """Return all students whose submission folder matches nbgrader's configured path, in order.

        Students whose folder is a link count: their results explain why nothing was read.
        """
        folder = folder_of_students(self.directory, assignment)
        return [name for name, path in self._student_paths(assignment).items() if _is_there(path, folder)]

    def known_students(self, assignment: str) -> list[str]:
        """Return all students who have a folder in submitted/, with or without a submission of the assignment."""
        return list(self._student_paths(assignment))

    def _student_paths(self, assignment: str) -> dict[str, Path]:
        """The folder of each student's submission, which need not exist, in the order of the students."""
        course = self.directory
        pattern = re.compile(
            course.format_path(course.submitted_directory, "(?P<student>[^/]+)", re.escape(assignment), escape=True)
        )
        folder = folder_of_students(course, assignment)
        _, *rest = self.folder("submitted", assignment, "x").relative_to(folder).parts
        # nbgrader uses the student as a glob pattern, which does not match hidden files.
        names = [name for name in os.listdir(folder) if not name.startswith(".")] if folder.is_dir() else []
        paths = [folder.joinpath(name, *rest) for name in names]
        students = {match["student"]: path for path in paths if (match := pattern.fullmatch(str(path)))}
        excluded = course.student_id_exclude.split(",")
        return {
            name: students[name]
            for name in sorted(students)
            if name not in excluded and fnmatchcase(name, course.student_id)
        }


def folder_of_students(directory: CourseDirectory, assignment: str) -> Path:
    """Return the folder that holds a folder for each student who submitted; instructors choose it.

    Args:
        directory: nbgrader's settings.
        assignment: the assignment's name.
    """
    step = directory.submitted_directory
    first, second = (Path(directory.format_path(step, student, assignment)) for student in ("a", "b"))
    return Path(os.path.commonpath([first, second]))


def _is_there(path: Path, folder: Path) -> bool:
    """Return whether `path`, below `folder`, is a folder or is behind a link."""
    try:
        return SubmissionFolder(path, folder).has(".")
    except (UnreadableFile, PermissionError):
        return True  # the student's result has the reason
    except NotADirectoryError:
        return False


def _one_line(error: BaseException) -> str:
    """Return an error in one line: the grader's own message, or Python's with the notebook and the cell."""
    if isinstance(error, GraderError):
        return str(error)
    if isinstance(error, DatabaseError):
        return (
            f"the gradebook cannot be read or written ({error.orig}): close the program that is using it, or make its "
            "file writable and free some disk space, and run this again; students who are done stay graded"
        )
    if isinstance(error, SchemaTooOldError):
        return (
            f"{place_of(error)}a cell has metadata of an old nbgrader ({error}): back up the course folder, run "
            "'nbgrader update .'"
        )
    if place := place_of(error):
        return f"{place}{reason_of(error)}: correct this cell"
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]


def place_of(error: BaseException) -> str:
    """Return the notebook and the cell at which nbgrader's code failed, as the beginning of a message, or ''.

    Its errors do not say where they arose, but each preprocessor goes through a notebook with the same names.

    Args:
        error: an error with its traceback.
    """
    file, cell, notebook = "", None, None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        names = frame.f_locals
        file = names.get("notebook_filename", file)
        if isinstance(shared := names.get("resources"), Mapping) and "nbgrader" in shared:
            file = f"{shared['nbgrader'].get('notebook', Path(file).stem)}.ipynb"
        cell = names.get("cell") if _is_node(names.get("cell"), "cell_type") else cell
        notebook = names.get("nb") if _is_node(names.get("nb"), "cells") else notebook
    if cell is None:
        return f"{Path(file).name}: " if file else ""
    number = next((number for number, each in enumerate(notebook.cells if notebook else (), 1) if each is cell), 0)
    name = grade_id(cell) or (f"cell {number}" if number else "a cell")
    return f"{Path(file).name}, {one_line(name, 100)}: " if file else f"{one_line(name, 100)}: "


def reason_of(error: BaseException) -> str:
    """Return what an error of nbgrader's code says, without its class and without its report on the schema."""
    reason = one_line(getattr(error, "message", None) or str(error) or type(error).__name__, 300).rstrip(".")
    return reason[:1].lower() + reason[1:]


def _is_node(value: object, key: str) -> bool:
    return isinstance(value, NotebookNode) and key in value


class _FirstError(logging.Handler):
    """Keeps the first exception that a converter logged: the one that stopped it."""

    error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.error is None and record.levelno >= logging.ERROR:
            self.error = sys.exc_info()[1]


def engine_at(url: str, **options: Any) -> Engine:
    """Return an engine for the database at a db_url, without connecting.

    Args:
        url: the address of the database.
        options: options of `sqlalchemy.create_engine`.

    Raises:
        GraderError: SQLAlchemy does not accept the address, or its driver is not installed.
    """
    try:
        return create_engine(url, **options)  # imports the driver
    except ImportError as error:
        raise GraderError(
            f"c.CourseDirectory.db_url needs the driver {error.name}, which is not installed: for PostgreSQL, run pip "
            f"install '{DISTRIBUTION}[postgres]', and use a URL such as {POSTGRES}"
        ) from error
    except ArgumentError as error:
        raise GraderError(
            f"c.CourseDirectory.db_url cannot be used ({one_line(error)}): it is a URL such as {POSTGRES}"
        ) from error


def make_tables(url: str) -> None:
    """Create the tables of the gradebook at `url` and set their version; leave a gradebook with tables as it is.

    Args:
        url: the address of its database.

    Raises:
        GraderError: SQLAlchemy does not accept the address, or its driver is not installed.
    """
    engine = engine_at(url)
    if not inspect(engine).get_table_names():
        from alembic.migration import MigrationContext  # slow to load, and most runs find a gradebook
        from alembic.script import ScriptDirectory

        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # two programs may find no tables at the same time
            if not inspect(connection).get_table_names():
                Base.metadata.create_all(connection)
                MigrationContext.configure(connection).stamp(ScriptDirectory(MIGRATIONS), "heads")
    engine.dispose()
