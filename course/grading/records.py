"""Everything that grading leaves behind for one student: gradebook, autograded/, feedback/, in this order.

Graded --> gradebook (one transaction) --> autograded notebooks --> feedback pages --> mark
"""

import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.reader import reads
from nbgrader.utils import parse_utc

from course.classroom import Classroom
from course.grading.autograded import autograded, repeated, unanswered
from course.grading.feedback import FeedbackExporter, HideMarkSchemes, HideTests, PlainExporter
from course.grading.gradebook import Marks, Scores, Writer
from course.grading.handed_in import Unreadable, contents, is_there
from course.grading.notebook import grade_id
from course.grading.patience import OutOfPatience, at_most
from course.grading.report import Report
from course.grading.sanitize import as_it_is

TIMESTAMP = "timestamp.txt"
RECEIPTS = (TIMESTAMP, "submission_secret.txt")

MAX_RECEIPT_MB = 1
MAX_TIME = 100
"""Characters of a time: to read a longer text as one may take seconds."""

PAGE_SECONDS = 10
"""Of computing, for one page of feedback, which takes a hundredth of a second or two."""

MARK = ".graded.json"
"""Lies in autograded/STUDENT/ASSIGNMENT once all of a student is written, and says of what."""


@dataclass
class Graded:
    """One student's outcome: a report and a repaired notebook each.

    `troubles` say in words what could not be graded, `remarks` what else an instructor may want to know.
    """

    student: str
    reports: dict[str, Report] = field(default_factory=dict)
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def is_marked(classroom: Classroom, assignment: str, student: str) -> bool:
    """Whether all of a student was written once; Records.done says whether that still holds."""
    return (classroom.folder("autograded", assignment, student) / MARK).exists()


class Records:
    """What a class run writes; use it in a `with` block and from one thread."""

    def __init__(self, classroom: Classroom, assignment: str) -> None:
        self._classroom = classroom
        self._assignment = assignment
        self._writer = Writer(classroom, assignment)
        # One exporter for the whole class: it compiles nbgrader's templates once.
        self._exporter = self._made(FeedbackExporter)

    def __enter__(self) -> "Records":
        self._writer.__enter__()
        self._checksums = self._writer.checksums()
        self._known = self._writer.students()
        return self

    def __exit__(self, *error: Any) -> None:
        self._writer.__exit__(*error)

    def due(self) -> datetime | None:
        """When the assignment was to be handed in."""
        return self._writer.due()

    def done(self, student: str, digest: str) -> Graded | None:
        """The outcome, without reports, of a student whose records were all made from what `digest` names; or None."""
        mark = self._folder("autograded", student) / MARK
        if student not in self._known or not mark.exists():
            return None
        try:
            said = json.loads(mark.read_text())
        except ValueError:
            return None
        # The digest first: another grader's mark may say less.
        if said["digest"] != digest or any(
            not path.exists() for name in said["notebooks"] for path in self._written(student, name)
        ):
            return None
        return Graded(student, troubles=said["troubles"], remarks=said["remarks"])

    def rehearse(self, sources: dict[str, NotebookNode]) -> None:
        """Renders what all pages have in common. That takes a second, best spent before anything is to be written."""
        for name, source in sources.items():
            cells = {cell: {"score": 0.0, "points": 0.0} for cell in self._checksums[name]}
            self._feedback(name, deepcopy(source), Scores("", 0.0, 0.0, 0.0, cells))

    def write(self, graded: Graded, digest: str) -> None:
        """Writes all of a student's records."""
        notebooks = {
            name: autograded(notebook, graded.reports[name], self._checksums[name])
            for name, notebook in graded.notebooks.items()
        }
        marks = {
            name: Marks(
                {result.name: result.points for result in graded.reports[name].results},
                unanswered(notebook),
                self._repeated(graded.student, name, notebook),
            )
            for name, notebook in notebooks.items()
        }
        scores = self._writer.write(graded.student, marks, self._handed_in(graded))
        for name, notebook in notebooks.items():
            graded_notebook, page = self._written(graded.student, name)
            _replace(graded_notebook, _as_json(notebook))
            _replace(page, self._feedback(name, notebook, scores[name]))
        for name in self._checksums.keys() - notebooks.keys():
            # What was graded before and cannot be read now does not count any more.
            for path in self._written(graded.student, name):
                path.unlink(missing_ok=True)
        self._copy_receipts(graded.student)
        # Last of all: only who carries the mark is done.
        said = {"digest": digest, "troubles": graded.troubles, "remarks": graded.remarks}
        mark = json.dumps(said | {"notebooks": sorted(notebooks)})
        _replace(self._folder("autograded", graded.student) / MARK, mark)

    def _repeated(self, student: str, name: str, notebook: NotebookNode) -> set[str]:
        path, _ = self._written(student, name)
        if not path.exists():
            return set()
        try:
            return repeated(notebook, reads(path.read_text(encoding="utf-8")))
        except Exception:  # somebody else wrote it
            return set()

    def _handed_in(self, graded: Graded) -> datetime | None:
        """When it was handed in, as far as somebody says so."""
        path = self._folder("submitted", graded.student) / TIMESTAMP
        try:
            if not is_there(path):
                return None
            said = contents(path, MAX_RECEIPT_MB).decode().strip()
            return _time(said) if said else None
        except Exception:  # it is no file, or whatever dateutil raises for a text that is no time
            graded.remarks.append(f"{TIMESTAMP} holds no time such as 2026-03-02 10:00:00 UTC, and was left aside")
            return None

    def _feedback(self, name: str, notebook: NotebookNode, scores: Scores) -> str:
        for cell in notebook.cells:
            cell.metadata.get("nbgrader", {}).update(scores.cells.get(grade_id(cell), {}))
        header = {
            "notebook": name,
            "score": scores.score - scores.late_penalty,
            "max_score": scores.max_score,
            "late_penalty": scores.late_penalty,
        }
        with suppress(OutOfPatience), at_most(PAGE_SECONDS):
            return self._exporter.from_notebook_node(notebook, {"nbgrader": header})[0]
        with suppress(OutOfPatience), at_most(PAGE_SECONDS):
            return self._made(PlainExporter).from_notebook_node(notebook, {"nbgrader": header})[0]
        points = f"{header['score']:g} of {header['max_score']:g} points"
        return as_it_is(f"{name}: {points}. This notebook would take too long to be shown as a page.")

    def _made(self, kind: type[FeedbackExporter]) -> FeedbackExporter:
        exporter = kind(config=self._classroom.config)
        for preprocessor in (HideTests, HideMarkSchemes):
            exporter.register_preprocessor(preprocessor, enabled=True)
        return exporter

    def _copy_receipts(self, student: str) -> None:
        """What `nbgrader collect` puts beside the notebooks, `nbgrader release_feedback` looks for beside the pages."""
        for name in RECEIPTS:
            with suppress(Unreadable):
                receipt = contents(self._folder("submitted", student) / name, MAX_RECEIPT_MB).decode(errors="replace")
                for step in ("autograded", "feedback"):
                    _replace(self._folder(step, student) / name, receipt)

    def _written(self, student: str, name: str) -> tuple[Path, Path]:
        """The graded notebook and the page of feedback."""
        return self._folder("autograded", student) / f"{name}.ipynb", self._folder("feedback", student) / f"{name}.html"

    def _folder(self, step: str, student: str) -> Path:
        return self._classroom.folder(step, self._assignment, student)


def _time(said: str) -> datetime:
    if len(said) > MAX_TIME:
        raise ValueError
    return parse_utc(said)


def _as_json(notebook: NotebookNode) -> str:
    # nbformat.writes validates, copies, splits lines and indents; each takes longer than this. What was read is
    # valid, and what was added we made.
    return json.dumps(notebook, ensure_ascii=False)


def _replace(path: Path, text: str) -> None:
    """Writes a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
