"""Lets `nbgrader autograde` and the formgrader's button read, repair and grade submissions with the grader.

submitted -- SubmissionExporter, RepairCells --> autograded -- GradeCells --> outputs -- SaveAutoGrades --> gradebook

nbgrader copies everything beside a notebook, and follows links. This module makes it ignore all files that are not part
of the assignment, as `grader grade` does.
"""

import glob
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, Notebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.classroom.config import course_needs_torch, helper_packages
from grader.classroom.course_dir import CourseDir, folder_of_students
from grader.classroom.gradebook.reader import ledger_of
from grader.classroom.page.autograded import autograded, unanswered
from grader.classroom.page.result_files import record, record_file
from grader.classroom.release import chooser_of, register
from grader.classroom.results import RECEIPTS
from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.basis import Basis
from grader.classroom.source.inputs import Inputs
from grader.classroom.source.sources import read_source, read_sources
from grader.classroom.source.student_zero import sound
from grader.classroom.student import Assignment, load_assignment
from grader.classroom.students.names import require_name
from grader.classroom.submitted.file_choice import FoundFiles, find_files
from grader.classroom.submitted.helper_files import helper_files
from grader.engine.diagnosis.misconceptions import load
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.cells import grade_id, repairs_of, type_of, with_repairs
from grader.engine.notebook.folder.submission_folder import MAX_ENTRIES, SubmissionFolder
from grader.engine.notebook.not_run import cells_not_run
from grader.engine.notebook.outline import GRADED
from grader.engine.notebook.repair import Repaired, repair
from grader.engine.supervisor import forkserver
from grader.engine.supervisor.parsers import read_notebook
from grader.errors import GraderError, UnreadableFile
from grader.text import one_line

Resources = dict[str, Any]

MAX_NAMES = 5
"""Number of ignored files that are named for a submission."""


class SubmissionExporter(NotebookExporter):
    """Reads submitted notebooks as `grader grade` does, and keeps other files of a submission from being copied."""

    def __init__(self, **settings: Any) -> None:
        """Make the exporter.

        Args:
            settings: nbconvert's settings, among them `parent`: nbgrader's converter, which has found the submissions.

        Raises:
            NbGraderException: all submissions are refused, or our own solution fails a test; the log has the reasons.
        """
        super().__init__(**settings)
        self.assignment: Assignment | None = None
        if isinstance(self.parent, Autograde):
            _prepare(self.parent)
            self.assignment = _sound(self.parent)
            _leave_out_strange_files(self.parent)

    def from_file(
        self, file_stream: IO[str], resources: Resources | None = None, **options: Any
    ) -> tuple[NotebookNode, Resources]:
        """Return the notebook in a file, and nbconvert's resources.

        Args:
            file_stream: the open file; it is read again by its name.
            resources: nbconvert's resources.
            options: nbconvert's options.

        Raises:
            UnreadableFile: the file is not a notebook or is too large.
        """
        notebook = read_notebook(Path(file_stream.name), Limits(parent=self).notebook_mb)
        return self.from_notebook_node(notebook, resources, **options)


def _prepare(converter: Autograde) -> None:
    """Start the fork server before the first file is parsed; grading reports a helper package that is missing."""
    config, root = converter.config, Path(converter.coursedir.root)
    with suppress(GraderError):
        forkserver.prepare(helper_packages(config), needs_torch=course_needs_torch(root, config))


class RepairCells(NbGraderPreprocessor):
    """Repairs a submission from its source; replaces nbgrader's sanitizing preprocessors."""

    def preprocess(self, notebook: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the repaired notebook and the resources; log the repairs.

        Args:
            notebook: the submission.
            resources: nbconvert's resources, with nbgrader's names of the notebook and its assignment.
        """
        repaired = repair(_source(self, resources), notebook)
        for change in repaired.changes:
            self.log.warning("%s", change)
        return with_repairs(repaired.notebook, repaired.changes), resources


class GradeCells(NbGraderPreprocessor):
    """Grades a repaired submission; replaces nbgrader's Execute. nbgrader reads the scores from the outputs."""

    def preprocess(self, notebook: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the autograded notebook and the resources.

        Args:
            notebook: the repaired submission.
            resources: nbconvert's resources, with nbgrader's names of the notebook and its assignment.

        Raises:
            SandboxUnavailable: the kernel cannot confine student code.
        """
        self._register_new_points(notebook, resources)
        limits, packages, source = Limits(parent=self), helper_packages(self.config), _source(self, resources)
        handed_in, submitted = _handed_in(self, resources), f"{resources['nbgrader']['notebook']}.ipynb"
        # The repaired notebook lacks what the student wrote into cells of ours, and nbgrader copies few files.
        submission = read_notebook(handed_in.path / submitted, limits.notebook_mb)
        content = handed_in.read(submitted, limits.notebook_mb)
        folder, course = _source_folder(self, resources), self.parent.parent.coursedir
        assignment: Assignment | None = self.parent.assignment
        ours = assignment_files(folder, course.ignore, limits)
        files, left_out = helper_files(handed_in, [content], limits, packages, ours)
        for notice in left_out:
            self.log.warning("%s", notice)
        report = grade(
            source,
            Repaired(notebook, repairs_of(notebook), cells_not_run(source, submission, notebook)),
            limits,
            misconceptions=load(folder),
            helper_packages=packages,
            files=files,
            assignment_files=ours,
            unsound=assignment.unsound.get(resources["nbgrader"]["notebook"]) if assignment else None,
        )
        report.require_confined()
        if report.given_up:
            self.log.warning("grading did not finish, so its tests give no points: grade it again with --force")
        for result in report.results:
            if result.log:
                self.log.debug("%s: %s\n%s", result.name, result.verdict, result.log)
        with _registered(resources) as registered:
            checksums = {cell.name: cell.checksum for cell in registered.source_cells}
        basis = self._basis(assignment, resources) if assignment else None
        graded = autograded(notebook, report, checksums)
        # nbgrader writes it beside the autograded notebook.
        file = record_file(Path(), resources["nbgrader"]["notebook"])
        resources.setdefault("outputs", {})[str(file)] = record(report, graded, unanswered(graded), basis).encoded()
        return graded, resources

    def _basis(self, assignment: Assignment, resources: Resources) -> Basis:
        """Return what the scores of the student depend on besides the submission."""
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            ledger = ledger_of(gradebook.db, assignment.name, student=names["student"])
        return Inputs.of_ledger(assignment, self.config, ledger).basis(names["student"])

    def _register_new_points(self, notebook: NotebookNode, resources: Resources) -> None:
        """Register points that changed in source/: a score must not exceed the points in the gradebook."""
        now = {
            (name, cell.metadata.nbgrader["points"])
            for cell in notebook.cells
            if (name := grade_id(cell)) and type_of(cell) in GRADED
        }
        with _registered(resources) as registered:
            before = {(cell.name, cell.max_score) for cell in (*registered.grade_cells, *registered.task_cells)}
        changed = sorted({name for name, _ in now ^ before})
        if changed:
            register(CourseDir(Path(self.parent.parent.coursedir.root)), resources["nbgrader"]["assignment"])
            self.log.warning(
                "the points of %s changed in source/ and were updated in the gradebook: use --force to grade the other "
                "students again",
                " and ".join(changed),
            )


def _sound(converter: Autograde) -> Assignment:
    """Return the assignment with the tests that our own solution fails.

    Raises:
        NbGraderException: there are some, and no setting allows them, or source/ is broken.
    """
    try:
        course_dir = CourseDir(Path(converter.coursedir.root), converter.config)
        assignment = load_assignment(course_dir, converter.coursedir.assignment_id, sandbox=True)
        how = "c.Grader.allow_broken_tests = True"
        return sound(course_dir, assignment, how=how, note=converter.log.warning)
    except GraderError as error:
        for line in (str(error), *error.details):
            converter.log.error("%s", one_line(line))
        raise NbGraderException("no submission was graded: the log has the reason") from error


def _leave_out_strange_files(converter: Autograde) -> None:
    """Make nbgrader ignore each file that is neither a notebook nor a receipt nor part of the assignment.

    Refuse a submission in which one of these is a link, which nbgrader would follow.
    """
    course = converter.coursedir
    source = Path(course.format_path(course.source_directory, ".", course.assignment_id))
    usual = {path.relative_to(source) for path in source.rglob("*")} | {Path(name) for name in RECEIPTS}
    max_mb = Limits(parent=converter).notebook_mb
    try:
        chooser = chooser_of(read_sources(source, max_mb, converter.config), converter.config)
    except GraderError as error:
        converter.log.error("%s", one_line(error))
        raise NbGraderException("no submission was graded: the log has the reason") from error
    strange: dict[str, None] = {}
    for folder in list(converter.assignments):
        handed_in = SubmissionFolder(Path(folder), folder_of_students(course, course.assignment_id))
        try:
            require_name(handed_in.path.relative_to(handed_in.trusted).parts[0])
            found = _strange_names(handed_in, usual)
        except (GraderError, OSError) as error:
            del converter.assignments[folder]
            converter.log.error("%s was not graded: %s", one_line(folder), one_line(error))
            continue
        if names := [name for name in found if not any(fnmatchcase(name, pattern) for pattern in course.ignore)]:
            left_out = ", ".join(map(repr, names[:MAX_NAMES])) + (" …" if len(names) > MAX_NAMES else "")
            converter.log.warning("%s: left out, because the assignment has none: %s", one_line(folder), left_out)
        for line in _remarks(find_files(chooser, handed_in, max_mb)):
            converter.log.warning("%s: %s", one_line(folder), one_line(line))
        strange |= dict.fromkeys(names)
    if not converter.assignments:
        raise NbGraderException("every submission was refused: the log has the reasons")
    # The application still uses its own settings for other assignments.
    converter.coursedir = copy(course)
    converter.coursedir.ignore = [*course.ignore, *map(glob.escape, strange)]


def _remarks(found: FoundFiles) -> Iterator[str]:
    """Yield what an instructor should know about the files of a submission."""
    for name, path in found.places.items():
        yield f"{path!r} was not read, and {name}.ipynb {found.why[name]}: rename the file, or use 'grader grade'"
    yield from (*found.errors, *found.notices)


def _strange_names(handed_in: SubmissionFolder, usual: set[Path]) -> list[str]:
    """Return names of files and folders that are not part of the assignment; nbgrader can only ignore names."""
    entries = handed_in.entries(into=usual)
    if len(entries) >= MAX_ENTRIES:
        raise UnreadableFile(f"it holds {MAX_ENTRIES} files or more", "ask the student for the notebooks alone")
    usual_names, strange = {path.name for path in usual}, []
    for entry in entries:
        if entry.path in usual or entry.path.suffix == ".ipynb":
            if not (entry.is_file or entry.is_folder):
                raise UnreadableFile(
                    f"{entry.path} is a link or not a file, and no link is followed",
                    "ask the student for the file itself",
                )
        elif entry.path.name in usual_names:
            raise UnreadableFile(
                f"{entry.path} has the name of a file of the assignment, in another folder", "move or remove it"
            )
        else:
            strange.append(entry.path.name)
    return sorted(strange)


def _source_folder(preprocessor: NbGraderPreprocessor, resources: Resources) -> Path:
    course = preprocessor.parent.parent.coursedir
    return Path(course.format_path(course.source_directory, ".", resources["nbgrader"]["assignment"]))


def _source(preprocessor: NbGraderPreprocessor, resources: Resources) -> NotebookNode:
    name = f"{resources['nbgrader']['notebook']}.ipynb"
    max_mb = Limits(parent=preprocessor).notebook_mb
    return read_source(_source_folder(preprocessor, resources) / name, max_mb, preprocessor.config)


def _handed_in(preprocessor: NbGraderPreprocessor, resources: Resources) -> SubmissionFolder:
    course, names = preprocessor.parent.parent.coursedir, resources["nbgrader"]
    folder = course.format_path(course.submitted_directory, names["student"], names["assignment"])
    return SubmissionFolder(Path(folder), folder_of_students(course, names["assignment"]))


@contextmanager
def _registered(resources: Resources) -> Iterator[Notebook]:
    """Yield the gradebook's entry of the notebook."""
    names = resources["nbgrader"]
    with Gradebook(names["db_url"]) as gradebook:
        yield gradebook.find_notebook(names["notebook"], names["assignment"])
