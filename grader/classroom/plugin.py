"""Lets `nbgrader autograde` and the formgrader's button read, repair and grade submissions with the grader.

submitted -- SubmissionExporter, RepairCells --> autograded -- GradeCells --> outputs -- SaveAutoGrades --> gradebook
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, Notebook
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.classroom.autograded import autograded
from grader.classroom.course_dir import CourseDir
from grader.classroom.release import register
from grader.config import helper_packages
from grader.diagnosis.misconceptions import load
from grader.grading import grade
from grader.limits import Limits
from grader.notebook.cells import CellType, grade_id, type_of
from grader.notebook.files import read_notebook, read_source
from grader.notebook.repair import repair

Resources = dict[str, Any]


class SubmissionExporter(NotebookExporter):
    """Reads submitted notebooks as `grader grade` does."""

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


class RepairCells(NbGraderPreprocessor):
    """Repairs a submission from its source; replaces nbgrader's sanitizing preprocessors."""

    def preprocess(self, notebook: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the repaired notebook and the resources; log what was repaired.

        Args:
            notebook: the submission.
            resources: nbconvert's resources, with nbgrader's names of the notebook and its assignment.
        """
        repaired = repair(_source(self, resources), notebook)
        for change in repaired.changes:
            self.log.warning("%s", change)
        return repaired.notebook, resources


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
        report = grade(
            _source(self, resources),
            notebook,
            Limits(parent=self),
            misconceptions=load(_source_folder(self, resources)),
            helper_packages=helper_packages(self.config),
        )
        report.require_confined()
        if report.given_up:
            self.log.warning("grading did not come to an end, so its tests give no points: grade it again with --force")
        for result in report.results:
            if result.log:
                self.log.debug("%s: %s\n%s", result.name, result.verdict, result.log)
        return autograded(notebook, report, _checksums(resources)), resources

    def _register_new_points(self, notebook: NotebookNode, resources: Resources) -> None:
        """Register points that changed in source/: a score must not exceed the points in the gradebook."""
        now = {
            (name, cell.metadata.nbgrader["points"])
            for cell in notebook.cells
            if (name := grade_id(cell)) and type_of(cell) in (CellType.TEST, CellType.MANUAL_ANSWER)
        }
        with _registered(resources) as registered:
            before = {(cell.name, cell.max_score) for cell in registered.grade_cells}
        changed = sorted({name for name, _ in now ^ before})
        if changed:
            register(CourseDir(Path(self.parent.parent.coursedir.root)), resources["nbgrader"]["assignment"])
            self.log.warning(
                "the points of %s changed in source/ and were updated in the gradebook: use --force to grade the other "
                "students again",
                " and ".join(changed),
            )


def _source_folder(preprocessor: NbGraderPreprocessor, resources: Resources) -> Path:
    course = preprocessor.parent.parent.coursedir
    return Path(course.format_path(course.source_directory, ".", resources["nbgrader"]["assignment"]))


def _source(preprocessor: NbGraderPreprocessor, resources: Resources) -> NotebookNode:
    name = f"{resources['nbgrader']['notebook']}.ipynb"
    return read_source(_source_folder(preprocessor, resources) / name, Limits(parent=preprocessor).notebook_mb)


def _checksums(resources: Resources) -> dict[str, str | None]:
    with _registered(resources) as registered:
        return {cell.name: cell.checksum for cell in registered.source_cells}


@contextmanager
def _registered(resources: Resources) -> Iterator[Notebook]:
    """The gradebook's entry of the notebook."""
    names = resources["nbgrader"]
    with Gradebook(names["db_url"]) as gradebook:
        yield gradebook.find_notebook(names["notebook"], names["assignment"])
