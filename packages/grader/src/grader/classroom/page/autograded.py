"""Makes the autograded notebook: the repaired submission with the outputs of grading, as nbgrader expects."""

import copy
import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from nbformat import NotebookNode, from_dict
from nbgrader.utils import compute_checksum

from grader.classroom.page import sanitize
from grader.engine.cpu_limit import CpuLimitExceeded, cpu_limit
from grader.engine.notebook.cells import CellType, explain, grade_id, type_of, with_repairs
from grader.engine.report import Report

C = TypeVar("C")
FILE = "grader_file"
"""The key of a file's path in the metadata of a notebook, which come from the source."""
OUTPUT_SECONDS = 5
"""CPU seconds for sanitising the outputs of one notebook, which usually takes almost none."""


def autograded(repaired: NotebookNode, report: Report, checksums: dict[str, str | None]) -> NotebookNode:
    """Return a copy of a repaired notebook with the outputs of its report.

    Args:
        repaired: the graded notebook, which is not changed.
        report: its report.
        checksums: the checksums of the released cells, by grade_id.
    """
    notebook = with_repairs(repaired, report.repairs)
    notebook.cells = []
    outputs = _sanitized(report.outputs)
    explanations = {result.name: result.explanation for result in report.results}
    for index, repaired_cell in enumerate(repaired.cells):
        # Copy only what changes: copying a whole notebook takes as long as grading an exercise.
        cell = NotebookNode(repaired_cell)
        if (name := grade_id(cell)) is not None:
            cell.metadata = copy.deepcopy(cell.metadata)
            # Repair has recognised blank boxes.
            cell.metadata.nbgrader.setdefault("checksum", checksums.get(name))
            if type_of(cell) is CellType.TEST:
                explain(cell, explanations.get(name))
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in outputs.get(index, [])]
        notebook.cells.append(cell)
    return notebook


def put_place(notebook: NotebookNode, path: str) -> None:
    """Write the path of a submitted file that does not have the notebook's name into the repaired notebook."""
    notebook.metadata = NotebookNode(notebook.metadata, **{FILE: path})


def place_of(notebook: NotebookNode) -> str:
    """Return the path of the submitted file if it does not have the notebook's name, or ''."""
    return str(notebook.metadata.get(FILE, ""))


def _sanitized(outputs: dict[int, list[dict[str, Any]]]) -> dict[int, list[dict[str, Any]]]:
    """Return the sanitized outputs of each cell, with HTML as text if sanitizing takes too long."""
    try:
        with cpu_limit(OUTPUT_SECONDS):
            return {index: sanitize.outputs(cell_outputs) for index, cell_outputs in outputs.items()}
    except CpuLimitExceeded:
        return {
            index: sanitize.outputs(cell_outputs, render=sanitize.verbatim) for index, cell_outputs in outputs.items()
        }


def answer_digests(notebook: NotebookNode) -> dict[str, str]:
    """Return a digest of each answer that a person marks, by grade_id.

    It is that of the text of a written answer; of a blank box, of the text next to it; and of a task, of all cells that
    nbgrader does not know, because a student may add an answer anywhere.
    """
    names = [grade_id(cell) for cell in notebook.cells]
    unnamed = [cell.source for cell in notebook.cells if grade_id(cell) is None and cell.source.strip()]
    found = {}
    for number, cell in enumerate(notebook.cells):
        texts, kind = [cell.source], type_of(cell)
        if (name := names[number]) is None or kind not in (CellType.MANUAL_ANSWER, CellType.TASK):
            continue
        if kind is CellType.TASK:
            texts = unnamed
        elif cell.metadata.nbgrader.get("checksum", "") is None:
            texts += [each.source for each in beside(notebook.cells, names, number)]
        found[name] = hashlib.sha256("\n".join(texts).encode(errors="surrogatepass")).hexdigest()
    return found


def beside(cells: Sequence[C], names: Sequence[str | None], number: int) -> Sequence[C]:
    """Return the cells around a cell, up to the next ones that nbgrader knows.

    Args:
        cells: all cells of a notebook.
        names: the grade_id of each.
        number: the number of the cell.
    """
    first = next((place + 1 for place in range(number - 1, -1, -1) if names[place]), 0)
    last = next((place for place in range(number + 1, len(cells)) if names[place]), len(cells))
    return cells[first:last]


def unanswered(notebook: NotebookNode) -> set[str]:
    """Return the answers of an autograded notebook that are still as released."""
    return {
        name
        for cell in notebook.cells
        if (name := grade_id(cell)) is not None
        and type_of(cell) in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)
        and cell.metadata.nbgrader["checksum"] == compute_checksum(cell)
    }
