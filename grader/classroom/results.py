"""Writes everything that grading leaves behind for one student: gradebook, autograded/ and feedback/, in this order.

StudentResult --> gradebook (one transaction) --> autograded notebooks --> pages, index.html --> completion marker
"""

import json
import os
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.reader import reads
from nbgrader.utils import parse_utc

from grader.classroom.autograded import autograded, unanswered, unchanged_answers
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook import GradebookWriter, NotebookScores, RecordedScores
from grader.classroom.page.feedback import FeedbackExporter, HideMarkSchemes, HideTests, PlainExporter
from grader.classroom.page.sanitize import verbatim
from grader.classroom.page.summary import OVERVIEW, Standing, overview
from grader.cpu_limit import CpuLimitExceeded, cpu_limit
from grader.errors import UnreadableFile
from grader.notebook.cells import grade_id
from grader.report import Report

TIMESTAMP = "timestamp.txt"
RECEIPTS = (TIMESTAMP, "submission_secret.txt")

MAX_RECEIPT_MB = 1
MAX_TIMESTAMP = 100
"""Characters of a timestamp: parsing a longer text may take seconds."""

PAGE_SECONDS = 10
"""CPU seconds for one feedback page, which usually takes between a hundredth of a second and two seconds."""

COMPLETION_MARKER = ".graded.json"
"""File in autograded/STUDENT/ASSIGNMENT, written last: it names what a student's complete results were made from."""


@dataclass
class StudentResult:
    """One student's results: a report and a repaired notebook by the name of each notebook that was graded.

    `troubles` say in words what could not be graded, `remarks` what else an instructor may want to know.
    """

    student: str
    reports: dict[str, Report] = field(default_factory=dict)
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def has_completion_marker(course_dir: CourseDir, assignment: str, student: str) -> bool:
    """Return whether a student was once graded completely; `ResultWriter.finished_result` tells if that still holds.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        student: the student's name.
    """
    return (course_dir.folder("autograded", assignment, student) / COMPLETION_MARKER).exists()


class ResultWriter:
    """Writes the results of a class run; use it in a `with` block and from one thread."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        self._course_dir = course_dir
        self._assignment = assignment
        self._gradebook = GradebookWriter(course_dir, assignment)
        # One exporter for the whole class, because it compiles nbgrader's templates once.
        self._exporter = self._new_exporter(FeedbackExporter)

    def __enter__(self) -> "ResultWriter":
        self._gradebook.__enter__()
        self._checksums = self._gradebook.checksums()
        self._recorded_students = self._gradebook.students()
        return self

    def __exit__(self, *error: Any) -> None:
        self._gradebook.__exit__(*error)

    def due(self) -> datetime | None:
        """Return the due date of the assignment, if it has one."""
        return self._gradebook.due()

    def finished_result(self, student: str, digest: str) -> StudentResult | None:
        """Return the result of a student who need not be graded again, without reports; None if that must be done.

        Args:
            student: the student's name.
            digest: what complete results must have been made from.
        """
        marker_file = self._folder("autograded", student) / COMPLETION_MARKER
        if student not in self._recorded_students or not marker_file.exists():
            return None
        try:
            marker = json.loads(marker_file.read_text())
        except ValueError:
            return None
        # Compare the digest first: another version of the grader may have written a marker with fewer keys.
        if marker["digest"] != digest or any(
            not path.exists() for name in marker["notebooks"] for path in self._output_files(student, name)
        ):
            return None
        return StudentResult(student, troubles=marker["troubles"], remarks=marker["remarks"])

    def warm_up(self, sources: dict[str, NotebookNode]) -> None:
        """Render what all pages have in common. It takes a second, best spent before there is anything to write."""
        for name, source in sources.items():
            cells = {cell: {"score": 0.0, "points": 0.0} for cell in self._checksums[name]}
            self._feedback_page(name, deepcopy(source), RecordedScores("", 0.0, 0.0, 0.0, cells))

    def write(self, student_result: StudentResult, digest: str) -> None:
        """Write all results of one student.

        Args:
            student_result: what grading the student gave; a remark is added if its timestamp cannot be used.
            digest: what the results were made from.
        """
        student, notebooks = student_result.student, self._write_graded(student_result)
        for name in self._checksums.keys() - notebooks:
            # A notebook that was graded before and cannot be read now no longer counts.
            for path in self._output_files(student, name):
                path.unlink(missing_ok=True)
        # The marker comes last: it says that everything else has been written.
        marker = {
            "digest": digest,
            "troubles": student_result.troubles,
            "remarks": student_result.remarks,
            "notebooks": sorted(notebooks),
        }
        replace_file(self._folder("autograded", student) / COMPLETION_MARKER, json.dumps(marker))

    def write_some(self, student_result: StudentResult) -> None:
        """Write the results of some of a student's notebooks, and leave those of the others as they are.

        A submission that is new in the gradebook scores zero in the others. No completion marker is written, so a class
        run grades the student again.

        Args:
            student_result: what grading the notebooks gave.
        """
        self._write_graded(student_result, keep_others=True)

    def page(self, student_result: StudentResult, name: str) -> str:
        """Return the feedback page of a notebook that does not count, with the points of its tests alone.

        Args:
            student_result: what grading the notebook gave.
            name: the notebook's name.
        """
        report = student_result.reports[name]
        cells = {
            result.name: {"score": result.points, "points": result.max_points, "comment": None}
            for result in report.results
        }
        notebook = autograded(student_result.notebooks[name], report, self._checksums[name])
        return self._feedback_page(name, notebook, RecordedScores("", report.points, report.max_points, 0.0, cells))

    def late_penalty(self, student: str, score: float, timestamp: datetime) -> float:
        """Return what the course's rule for late submissions takes from a score.

        Args:
            student: the student's name.
            score: the score without a penalty.
            timestamp: when the notebook was handed in, in UTC.
        """
        return self._gradebook.late_penalty(student, score, timestamp)

    def _write_graded(self, student_result: StudentResult, *, keep_others: bool = False) -> set[str]:
        """Write gradebook, autograded notebooks, pages and receipts; return the names of the notebooks."""
        student = student_result.student
        notebooks = {
            name: autograded(notebook, student_result.reports[name], self._checksums[name])
            for name, notebook in student_result.notebooks.items()
        }
        notebook_scores = {
            name: NotebookScores(
                {result.name: result.points for result in student_result.reports[name].results},
                unanswered(notebook),
                self._unchanged_answers(student, name, notebook),
            )
            for name, notebook in notebooks.items()
        }
        recorded_scores = self._gradebook.write(
            student, notebook_scores, self._timestamp(student_result), keep_others=keep_others
        )
        for name, notebook in notebooks.items():
            notebook_file, page_file = self._output_files(student, name)
            replace_file(notebook_file, _as_json(notebook))
            replace_file(page_file, self._feedback_page(name, notebook, recorded_scores[name]))
        old_pages = {name for name in self._checksums if keep_others and self._output_files(student, name)[1].exists()}
        self._write_overview(student, notebooks.keys() | old_pages, recorded_scores)
        self._copy_receipts(student)
        return set(notebooks)

    def _unchanged_answers(self, student: str, name: str, notebook: NotebookNode) -> set[str]:
        path, _ = self._output_files(student, name)
        if not path.exists():
            return set()
        try:
            return unchanged_answers(notebook, reads(path.read_text(encoding="utf-8")))
        except Exception:  # the file is not what the grader wrote
            return set()

    def _timestamp(self, student_result: StudentResult) -> datetime | None:
        """When the submission was handed in, if its timestamp file says so."""
        handed_in = self._course_dir.handed_in(self._assignment, student_result.student)
        try:
            if not handed_in.has(TIMESTAMP):
                return None
            text = handed_in.read(TIMESTAMP, MAX_RECEIPT_MB).decode().strip()
            return _parsed_time(text) if text else None
        except Exception:  # not a regular file, or whatever dateutil raises for a text that is not a time
            student_result.remarks.append(
                f"{TIMESTAMP} was ignored: it must contain a time such as 2026-03-02 10:00:00 UTC"
            )
            return None

    def _feedback_page(self, name: str, notebook: NotebookNode, scores: RecordedScores) -> str:
        for cell in notebook.cells:
            if (cell_name := grade_id(cell)) is not None:
                cell.metadata["nbgrader"].update(scores.cells.get(cell_name, {}))
        header = {"notebook": name, "late_penalty": scores.late_penalty}
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._exporter.from_notebook_node(notebook, {"nbgrader": header})[0]
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._new_exporter(PlainExporter).from_notebook_node(notebook, {"nbgrader": header})[0]
        points = _standing(name, scores).text
        return verbatim(f"{name}: {points}. This notebook takes too long to be shown as a page.")

    def _write_overview(self, student: str, pages: set[str], recorded_scores: dict[str, RecordedScores]) -> None:
        """Write the page that joins the notebooks; `pages` are those that have a page."""
        path = self._folder("feedback", student) / OVERVIEW
        if path.stem in self._checksums:
            return  # a notebook has this name
        if pages:
            standings = [_standing(name, recorded_scores[name], name in pages) for name in sorted(self._checksums)]
            replace_file(path, overview(self._assignment, standings))
        else:
            path.unlink(missing_ok=True)

    def _new_exporter(self, exporter_class: type[FeedbackExporter]) -> FeedbackExporter:
        exporter = exporter_class(config=self._course_dir.config)
        for preprocessor in (HideTests, HideMarkSchemes):
            exporter.register_preprocessor(preprocessor, enabled=True)
        return exporter

    def _copy_receipts(self, student: str) -> None:
        """Copy what `nbgrader collect` puts beside the notebooks: `nbgrader release_feedback` wants it beside pages."""
        handed_in = self._course_dir.handed_in(self._assignment, student)
        for name in RECEIPTS:
            with suppress(UnreadableFile):
                receipt = handed_in.read(name, MAX_RECEIPT_MB).decode(errors="replace")
                for step in ("autograded", "feedback"):
                    replace_file(self._folder(step, student) / name, receipt)

    def _output_files(self, student: str, name: str) -> tuple[Path, Path]:
        """The autograded notebook and the feedback page."""
        return self._folder("autograded", student) / f"{name}.ipynb", self._folder("feedback", student) / f"{name}.html"

    def _folder(self, step: str, student: str) -> Path:
        return self._course_dir.folder(step, self._assignment, student)


def _standing(name: str, scores: RecordedScores, has_page: bool = True) -> Standing:
    return Standing.of(name, scores.cells.values(), scores.late_penalty, has_page=has_page)


def _parsed_time(text: str) -> datetime:
    if len(text) > MAX_TIMESTAMP:
        raise ValueError
    return parse_utc(text)


def _as_json(notebook: NotebookNode) -> str:
    # nbformat.writes validates, copies, splits lines and indents, and each of these takes longer than json.dumps. What
    # was read has been validated, and the rest is the grader's own.
    return json.dumps(notebook, ensure_ascii=False)


def replace_file(path: Path, content: str | bytes, *, is_durable: bool = False) -> None:
    """Write a file completely or not at all, and make its folder if there is none.

    Args:
        path: the file.
        content: its new content; text is written in UTF-8.
        is_durable: whether the content must be on the disk before the file has its name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    new.replace(path)
