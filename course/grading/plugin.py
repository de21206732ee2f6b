"""The grader inside nbgrader: what `nbgrader autograde` and the formgrader's button read, repair and grade with.

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

from course.classroom import Classroom
from course.grading import confinement
from course.grading.autograded import autograded
from course.grading.grade import grade
from course.grading.limits import Limits
from course.grading.notebook import Kind, grade_id, kind
from course.grading.repair import read, repair
from course.grading.sources import read_source
from course.misconceptions import load
from course.release import register

Resources = dict[str, Any]


class SubmissionExporter(NotebookExporter):
    """Reads notebooks as `python -m course grade` does, of which none takes long; Unreadable where there is none."""

    def from_file(
        self, file_stream: IO[str], resources: Resources | None = None, **more: Any
    ) -> tuple[NotebookNode, Resources]:
        notebook = read(Path(file_stream.name), Limits(parent=self).notebook_mb)
        return self.from_notebook_node(notebook, resources, **more)


class RepairCells(NbGraderPreprocessor):
    """Puts a submission right from the source; takes the place of nbgrader's sanitising preprocessors."""

    def preprocess(self, notebook: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        repaired = repair(_source(self, resources), notebook)
        for line in repaired.repairs:
            self.log.warning("%s", line)
        return repaired.notebook, resources


class GradeCells(NbGraderPreprocessor):
    """Grades; takes the place of nbgrader's Execute. Scores are left to nbgrader, which reads them from the outputs."""

    def preprocess(self, notebook: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        self._register_new_points(notebook, resources)
        known = load(_folder(self, resources))
        report = grade(_source(self, resources), notebook, Limits(parent=self), misconceptions=known)
        confinement.require_confined(report)
        if report.was_given_up:
            self.log.warning("grading did not come to an end: its tests give no points; grade it again with --force")
        for result in report.results:
            if result.log:
                self.log.debug("%s: %s\n%s", result.name, result.verdict, result.log)
        return autograded(notebook, report, _checksums(resources)), resources

    def _register_new_points(self, notebook: NotebookNode, resources: Resources) -> None:
        """Tells the gradebook the points that changed in source/: a score must not be more than there are points."""
        now = {
            (grade_id(cell), cell.metadata.nbgrader["points"])
            for cell in notebook.cells
            if kind(cell) in (Kind.TEST, Kind.WRITTEN)
        }
        with _known(resources) as known:
            before = {(cell.name, cell.max_score) for cell in known.grade_cells}
        changed = sorted({name for name, _ in now ^ before})
        if changed:
            register(Classroom(Path(self.parent.parent.coursedir.root)), resources["nbgrader"]["assignment"])
            self.log.warning(
                "the points of %s changed in source/, and the gradebook was told: --force grades the others again",
                " and ".join(changed),
            )


def _folder(preprocessor: NbGraderPreprocessor, resources: Resources) -> Path:
    course = preprocessor.parent.parent.coursedir
    return Path(course.format_path(course.source_directory, ".", resources["nbgrader"]["assignment"]))


def _source(preprocessor: NbGraderPreprocessor, resources: Resources) -> NotebookNode:
    name = f"{resources['nbgrader']['notebook']}.ipynb"
    return read_source(_folder(preprocessor, resources) / name, Limits(parent=preprocessor).notebook_mb)


def _checksums(resources: Resources) -> dict[str, str | None]:
    with _known(resources) as notebook:
        return {cell.name: cell.checksum for cell in notebook.source_cells}


@contextmanager
def _known(resources: Resources) -> Iterator[Notebook]:
    """The notebook as the gradebook knows it."""
    names = resources["nbgrader"]
    with Gradebook(names["db_url"]) as gradebook:
        yield gradebook.find_notebook(names["notebook"], names["assignment"])
