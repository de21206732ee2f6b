"""READMEs, the threat model and source/start.ipynb say how much there is: `make readme` keeps them up to date."""

from pathlib import Path

import pytest

from tests.support.readme import ATTACKED, HEAD, README, START, counted, pages, table


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


def test_a_number_is_corrected_across_lines() -> None:
    """A number of something else stays, and a page without the number, or with two of them, is an error."""
    assert counted("There are 7 known\n  mistakes in 3 books.", {"known mistakes": 12}).split()[2::4] == ["12", "3"]
    for text in ("There are mistakes.", "7 known mistakes, 8 known mistakes"):
        with pytest.raises(ValueError, match="expected one place"):
            counted(text, {"known mistakes": 12})
