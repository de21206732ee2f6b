"""Makes the autograded notebook: the repaired submission with the outputs that grading gave it, as nbgrader expects."""

import copy
import hashlib
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.utils import compute_checksum

from grader.classroom.page import sanitize
from grader.engine.cpu_limit import CpuLimitExceeded, cpu_limit
from grader.engine.notebook.cells import CellType, explain, grade_id, type_of
from grader.engine.report import Report

OUTPUT_SECONDS = 5
"""CPU seconds for sanitising the outputs of one notebook, which usually takes almost none."""


def autograded(repaired: NotebookNode, report: Report, checksums: dict[str, str | None]) -> NotebookNode:
    """Return a copy of a repaired notebook with the outputs of its report.

    Args:
        repaired: the notebook that was graded; it is not changed.
        report: what grading found in it.
        checksums: the checksums of the released cells, by grade_id.
    """
    notebook = NotebookNode(repaired)
    notebook.cells = []
    outputs = _sanitized(report.outputs)
    explanations = {result.name: result.explanation for result in report.results}
    for index, repaired_cell in enumerate(repaired.cells):
        # Only what changes is copied: copying a whole notebook takes as long as grading an exercise.
        cell = NotebookNode(repaired_cell)
        if (name := grade_id(cell)) is not None:
            cell.metadata = copy.deepcopy(cell.metadata)
            cell.metadata.nbgrader["checksum"] = checksums.get(name)
            if type_of(cell) is CellType.TEST:
                explain(cell, explanations.get(name))
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in outputs.get(index, [])]
        notebook.cells.append(cell)
    return notebook


def _sanitized(outputs: dict[int, list[dict[str, Any]]]) -> dict[int, list[dict[str, Any]]]:
    """The outputs of each cell without anything that a browser would run; their HTML as text if that takes too long."""
    try:
        with cpu_limit(OUTPUT_SECONDS):
            return {index: sanitize.outputs(cell_outputs) for index, cell_outputs in outputs.items()}
    except CpuLimitExceeded:
        return {
            index: sanitize.outputs(cell_outputs, render=sanitize.verbatim) for index, cell_outputs in outputs.items()
        }


def answer_digests(notebook: NotebookNode) -> dict[str, str]:
    """Return a digest of each written answer, by grade_id: the same for the same text."""
    return {
        name: hashlib.sha256(cell.source.encode(errors="surrogatepass")).hexdigest()
        for cell in notebook.cells
        if (name := grade_id(cell)) is not None and type_of(cell) is CellType.MANUAL_ANSWER
    }


def unanswered(notebook: NotebookNode) -> set[str]:
    """Return the answers of an autograded notebook that are still as they were released."""
    return {
        name
        for cell in notebook.cells
        if (name := grade_id(cell)) is not None
        and type_of(cell) in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)
        and cell.metadata.nbgrader["checksum"] == compute_checksum(cell)
    }
