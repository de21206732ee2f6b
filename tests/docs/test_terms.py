"""A reader who searches for the field's word finds the notebook that explains it: the index of terms is true."""

import re

import nbformat
import pytest

from tests.support.exercises import NOTEBOOKS
from tests.support.paths import REPOSITORY

START = nbformat.read(REPOSITORY / "source" / "start.ipynb", as_version=4)
HEADING = "## Where is a term explained?"
ROW = re.compile(r"^\| \[[^\]]+\]\((?P<link>[^)]+)\) \| (?P<terms>[^|]+) \|$", re.MULTILINE)
EMPHASISED = re.compile(r"\*\*(.+?)\*\*|^#+ ([^\n]+)$", re.MULTILINE | re.DOTALL)


def index() -> dict[str, list[str]]:
    """Return the terms of the index in start.ipynb, by the notebook that it names."""
    [table] = [cell.source for cell in START.cells if HEADING in cell.source]
    return {row["link"]: row["terms"].split(", ") for row in ROW.finditer(table)}


def emphasised(link: str) -> str:
    """Return all that a notebook's text has in bold or in a heading, in lower case."""
    cells = nbformat.read(REPOSITORY / "release" / link, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return " | ".join(" ".join("".join(match.groups("")).split()) for match in EMPHASISED.finditer(text)).lower()


def test_each_notebook_has_terms() -> None:
    """None is left out, and none is in it twice."""
    assert sorted(index()) == sorted(str(path.relative_to(REPOSITORY / "source")) for path in NOTEBOOKS)
    assert min(map(len, index().values())) >= 3


@pytest.mark.parametrize("link", sorted(index()))
def test_a_term_stands_out_where_it_is_explained(link: str) -> None:
    """It is in bold or in a heading of that notebook, so that a search stops at the right place."""
    assert [term for term in index()[link] if term.lower() not in emphasised(link)] == []
