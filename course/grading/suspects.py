"""The known mistakes that a submission is compared with: what the driver hands to an examiner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course.grading.notebook import Kind, grade_id, kind
from course.misconceptions import Misconception

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Suspects:
    """The known mistakes of a notebook, and the cells of the reference that they are made in."""

    cells: list[tuple[str, str]]
    mistakes: list[Misconception]


def suspects(source: "NotebookNode", misconceptions: Sequence[Misconception]) -> Suspects:
    """Those of `misconceptions` that belong to `source`, and its reference."""
    cells = {
        name: cell.source
        for cell in source.cells
        if (name := grade_id(cell)) and cell.cell_type == "code" and kind(cell) in (Kind.READ_ONLY, Kind.ANSWER)
    }
    return Suspects(list(cells.items()), [mistake for mistake in misconceptions if mistake.exercise in cells])
