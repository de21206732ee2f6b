"""READMEs, the threat model and source/start.ipynb say how much there is: `make readme` keeps them up to date."""

from pathlib import Path

import pytest

from tests.support.readme import ATTACKED, README, START, pages


@pytest.mark.parametrize("page", [README, START, *ATTACKED], ids=lambda path: path.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    """After a change of points, notebooks, mistakes, right answers or attacks, run `make readme`."""
    assert page.read_text() == pages()[page]
