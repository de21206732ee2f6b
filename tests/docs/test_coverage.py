"""docs/coverage.md names only cells that exist."""

import re

import nbformat

from grader.engine.notebook.cells import grade_id
from tests.support.paths import REPOSITORY

DOCS = REPOSITORY / "docs"
ROW = re.compile(r"^\| [^|]+ \| \[[a-z-]+\]\((?P<link>[^)]+)\) \| (?P<cell>[^|]+) \|$", re.MULTILINE)
ROWS = ROW.findall((DOCS / "coverage.md").read_text())


def cells(link: str) -> set[str]:
    """Return the names that a row may give to the cells of a notebook: grade_ids and headings."""
    notebook = nbformat.read(DOCS / link, as_version=4)
    headings = re.findall(r"^#+ +(.*?)\s*$", "\n".join(cell.source for cell in notebook.cells), flags=re.MULTILINE)
    return {name for cell in notebook.cells if (name := grade_id(cell))} | set(headings)


def test_every_row_of_the_map_is_read() -> None:
    """Each of the five documents has its rows, and no row of the tables has another form."""
    text = (DOCS / "coverage.md").read_text().split("## Not carried over")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| in ")]
    assert len(rows) == len(ROWS) >= 150
    assert [f"{number:03}" for number in range(5)] == re.findall(r"^## (\d{3})", text, flags=re.MULTILINE)


def test_a_cell_that_covers_a_line_exists() -> None:
    """A grade_id or heading that was renamed must be renamed in the map."""
    there = {link: cells(link) for link, _ in ROWS}
    assert [(link, cell) for link, cell in ROWS if cell not in there[link]] == []
