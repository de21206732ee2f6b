"""Stores the results of grading a notebook beside the autograded notebook, for the class report.

    Report + repaired notebook --> NotebookRecord --as JSON--> autograded/STUDENT/ASSIGNMENT/.NOTEBOOK.results.json

Students never see it: it names hidden tests, and holds a fingerprint of every wrong answer.
"""

from collections.abc import Collection
from pathlib import Path

import msgspec
from msgspec.structs import replace
from nbformat import NotebookNode

from grader.classroom.source.basis import Basis
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.report import Report, Result

VERSION = 2
"""Grows when a field changes its meaning or is removed."""
ANSWERS = (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)


class NotebookRecord(msgspec.Struct, omit_defaults=True):
    """The results of one notebook: its tests in order, descriptions of repairs, and sources of answers by grade_id.

    `unanswered` are the answers that are still as released. `basis` is what the points depend on besides the
    submission, None if an earlier version of the grader gave them.
    """

    version: int
    tests: list[Result]
    answers: dict[str, str]
    unanswered: list[str] = []
    repairs: list[str] = []
    given_up: bool = False
    basis: Basis | None = None

    def encoded(self) -> bytes:
        """Return the record as JSON."""
        return msgspec.json.encode(self)


def record(
    report: Report, notebook: NotebookNode, unanswered: Collection[str], basis: Basis | None = None
) -> NotebookRecord:
    """Return the record of a graded notebook.

    Args:
        report: its report.
        notebook: the repaired notebook.
        unanswered: the answers that are still as released.
        basis: what the points depend on besides the submission, as far as it is known yet.
    """
    tests = [
        replace(each, log="", alone=None, ending=each.ending if each.is_ungradable else None) for each in report.results
    ]
    answers = {
        name: _text(cell.source)
        for cell in notebook.cells
        if type_of(cell) in ANSWERS and (name := grade_id(cell)) is not None
    }
    repairs = [*map(str, report.repairs)]
    return NotebookRecord(VERSION, tests, answers, sorted(unanswered), repairs, report.given_up, basis)


def record_file(folder: Path, notebook: str) -> Path:
    """Return the path of a record.

    Args:
        folder: the student's folder in autograded/.
        notebook: the name of the notebook.
    """
    return folder / f".{notebook}.results.json"


def read_record(folder: Path, notebook: str) -> NotebookRecord | None:
    """Read the record of a graded notebook; None if it is missing or of a different version.

    Args:
        folder: the student's folder in autograded/.
        notebook: the name of the notebook.
    """
    try:
        found = _decode(record_file(folder, notebook).read_bytes())
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return found if found.version == VERSION else None


def read_basis(folder: Path, notebook: str) -> Basis | None:
    """Read what the points of a graded notebook depend on; None if nothing says so.

    Args:
        folder: the student's folder in autograded/.
        notebook: the name of the notebook.
    """
    try:
        return _decode_basis(record_file(folder, notebook).read_bytes()).basis
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


class _WithBasis(msgspec.Struct):
    """The only field of a record that is needed for each student of a class; decoding skips the others."""

    basis: Basis | None = None


_decode = msgspec.json.Decoder(NotebookRecord).decode
_decode_basis = msgspec.json.Decoder(_WithBasis).decode


def _text(source: str) -> str:
    """Replace unpaired surrogates, which JSON cannot hold."""
    return source.encode(errors="replace").decode()
