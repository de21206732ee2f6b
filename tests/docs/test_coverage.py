"""docs/coverage.md and the index of terms in start.ipynb lead to what they name."""

import re

import nbformat
import pytest

from grader.engine.notebook.cells import grade_id
from tests.support.exercises import NOTEBOOKS
from tests.support.paths import REPOSITORY

DOCS = REPOSITORY / "docs"
ROW = re.compile(r"^\| [^|]+ \| \[[a-z-]+\]\((?P<link>[^)]+)\) \| (?P<cell>[^|]+) \|$", re.MULTILINE)
ROWS = ROW.findall((DOCS / "coverage.md").read_text())
START = nbformat.read(REPOSITORY / "source" / "start.ipynb", as_version=4)
HEADING = "## Where is a term explained?"
TERMS = re.compile(r"^\| \[[^\]]+\]\((?P<link>[^)]+)\) \| (?P<terms>[^|]+) \|$", re.MULTILINE)
EMPHASISED = re.compile(r"\*\*(.+?)\*\*|^#+ ([^\n]+)$", re.MULTILINE | re.DOTALL)


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


@pytest.mark.slow
def test_a_cell_that_covers_a_line_exists() -> None:
    """A grade_id or heading that was renamed must be renamed in the map."""
    there = {link: cells(link) for link, _ in ROWS}
    assert [(link, cell) for link, cell in ROWS if cell not in there[link]] == []


def index() -> dict[str, list[str]]:
    """Return the terms of the index in start.ipynb, by the notebook that it names."""
    [table] = [cell.source for cell in START.cells if HEADING in cell.source]
    return {row["link"]: row["terms"].split(", ") for row in TERMS.finditer(table)}


def emphasised(link: str) -> str:
    """Return all that a notebook's text has in bold or in a heading, in lower case."""
    cells = nbformat.read(REPOSITORY / "release" / link, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return " | ".join(" ".join("".join(match.groups("")).split()) for match in EMPHASISED.finditer(text)).lower()


def test_each_notebook_has_terms() -> None:
    """None is left out, and none is in it twice."""
    assert sorted(index()) == sorted(str(path.relative_to(REPOSITORY / "source")) for path in NOTEBOOKS)
    assert min(map(len, index().values())) >= 3


@pytest.mark.slow
def test_a_term_stands_out_where_it_is_explained() -> None:
    """It is in bold or in a heading of that notebook, so that a search for the field's word stops there."""
    for link, terms in index().items():
        assert [term for term in terms if term.lower() not in emphasised(link)] == [], link
