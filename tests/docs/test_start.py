"""The two pages that lead through the course, README.md and source/start.ipynb, list every notebook as it is."""

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from grader.engine.notebook.cells import CellType, type_of
from tests.support.paths import REPOSITORY

NOTEBOOKS = sorted(REPOSITORY.glob("source/*/*.ipynb"))
ROW = re.compile(r"\[(?P<name>[a-z-]+)\]\((?P<link>[^)]+)\).*\| (?P<points>\d+) \|$", re.MULTILINE)


def points(path: Path) -> int:
    """Return the points of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(
        cell.metadata.nbgrader.points for cell in cells if type_of(cell) in (CellType.TEST, CellType.MANUAL_ANSWER)
    )


def readme() -> str:
    return (REPOSITORY / "README.md").read_text()


def start() -> str:
    notebook = nbformat.read(REPOSITORY / "source" / "start.ipynb", as_version=4)
    return "\n".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize(("text", "folder"), [(readme, "."), (start, "release")], ids=["README", "start"])
def test_every_notebook_is_listed_in_order_with_its_points(text: Callable[[], str], folder: str) -> None:
    """Each row links to a notebook of release/ by its name without the number, and gives its points."""
    rows = [match.groupdict() for match in ROW.finditer(text())]
    assert [row["name"] for row in rows] == [Path(row["link"]).stem.lstrip("0123456789-") for row in rows]
    linked = [(REPOSITORY / folder / row["link"]).resolve() for row in rows]
    released = {path.relative_to(REPOSITORY / "release") for path in linked}
    assert released == {path.relative_to(REPOSITORY / "source") for path in NOTEBOOKS}
    assert linked == sorted(linked), "the file browser shows another order"
    for path, row in zip(linked, rows, strict=True):
        assert int(row["points"]) == points(REPOSITORY / "source" / path.parent.name / path.name)
