"""The two pages that lead through the course, README.md and source/start.ipynb, tell what there is."""

import re
from pathlib import Path

import nbformat
import pytest

from course.grading.notebook import Kind, kind

REPOSITORY = Path(__file__).parents[1]
NOTEBOOKS = sorted(REPOSITORY.glob("source/*/*.ipynb"))
ROW = re.compile(r"\[(?P<name>[a-z-]+)\]\((?P<link>[^)]+)\).*\| (?P<points>\d+) \|$", re.MULTILINE)


def points(path: Path) -> int:
    """What a notebook is worth."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(cell.metadata.nbgrader.points for cell in cells if kind(cell) in (Kind.TEST, Kind.WRITTEN))


def readme() -> str:
    return (REPOSITORY / "README.md").read_text()


def start() -> str:
    notebook = nbformat.read(REPOSITORY / "source" / "start.ipynb", as_version=4)
    return "\n".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize(("text", "folder"), [(readme, "."), (start, "release")], ids=["README", "start"])
def test_every_notebook_is_listed_in_order_with_its_points(text, folder: str) -> None:
    """Each row links to a notebook of release/, under its own name, and says what it is worth."""
    rows = [match.groupdict() for match in ROW.finditer(text())]
    assert [row["name"] for row in rows] == [row["link"].split("/")[-1].removesuffix(".ipynb") for row in rows]
    linked = [(REPOSITORY / folder / row["link"]).resolve() for row in rows]
    released = {path.relative_to(REPOSITORY / "release") for path in linked}
    assert released == {path.relative_to(REPOSITORY / "source") for path in NOTEBOOKS}
    assert [path.parent.name for path in linked] == sorted(path.parent.name for path in linked)
    for path, row in zip(linked, rows, strict=True):
        assert int(row["points"]) == points(REPOSITORY / "source" / path.parent.name / path.name)
