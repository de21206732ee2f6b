"""READMEs, the threat model and source/start.ipynb say how much there is: `make readme` keeps them up to date."""

from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from tests.support.readme import ATTACKED, HEAD, README, START, counted, minutes, pages, table


@pytest.mark.parametrize("page", [README, START, *ATTACKED], ids=lambda path: path.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    """After a change of points, notebooks, mistakes, right answers or attacks, run `make readme`."""
    assert page.read_text() == pages()[page]


def test_stale_rows_are_corrected() -> None:
    """A row with other points or a wrong name, a row in the wrong place, and one for a notebook that has gone."""
    right = pages()[README].split(HEAD)[1].split("\n\n")[0].replace("(release/", "(").splitlines()
    first, *others = right
    stale = [*others, first.replace("[layers", "[liars").replace("| 34 |", "| 43 |"), first.replace("/1-", "/9-")]
    assert table(HEAD + "\n".join(stale)) == HEAD + "\n".join(right) + "\n"


def test_a_notebook_without_a_row_is_named() -> None:
    """Only its author knows what students build in it."""
    with pytest.raises(ValueError, match="a row in source/start.ipynb; .* links to 01-aggregation/1-layers-and-param"):
        table(HEAD)


def test_the_time_of_a_notebook_is_the_sum_of_its_table() -> None:
    """With or without a unit; a number below the table does not count, and a row without a time is an error."""
    text = "# Title\n\n| you do | time | points |\n|---|---|---|\n| read | 25 min | |\n| `f` | 5 | 3 |\n"
    assert minutes(new_notebook(cells=[new_markdown_cell(f"{text}\n| 7 | 9 |")])) == 30
    with pytest.raises(ValueError, match="soon"):
        minutes(new_notebook(cells=[new_markdown_cell(text.replace("25 min", "soon"))]))


def test_a_number_is_corrected_across_lines() -> None:
    """A number of something else stays, and a page without the number, or with two of them, is an error."""
    assert counted("There are 7 known\n  mistakes in 3 books.", {"known mistakes": 12}).split()[2::4] == ["12", "3"]
    for text in ("There are mistakes.", "7 known mistakes, 8 known mistakes"):
        with pytest.raises(ValueError, match="expected one place"):
            counted(text, {"known mistakes": 12})
