"""The book and its widgets once, in a browser. tests/book and tests/course look closer."""

from itertools import product
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.notebook import WIDGET
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.paths import REPOSITORY

RELEASED = sorted(path.relative_to(REPOSITORY / "release") for path in REPOSITORY.glob("release/*/*.ipynb"))
OTHERS = ("index", "start", "glossary", "papers", "review", "search", "docs/students", "docs/instructors")
NAMES = {path.stem for path in REPOSITORY.glob("course/widgets/*.js")}
CONTROLS, KEYS = ".gw-controls :is(input, select, button):enabled", ("ArrowDown", "ArrowUp", "Space")
WIDGETS = ", ".join(f'.grader-widget[data-module="{name}"]' for name in NAMES)
# The tests of the book look at the same one.
pytestmark = pytest.mark.xdist_group("book")


def test_the_book_has_a_page_for_each_notebook(book: Path) -> None:
    """With all tables, pictures and formulas of the released notebook."""
    assert [name for name in OTHERS if not (book / f"{name}.html").is_file()] == []
    for path in RELEASED:
        page = BeautifulSoup((book / path.with_suffix(".html")).read_text(), "html.parser")
        cells = nbformat.read(REPOSITORY / "release" / path, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        tables = sum(
            line.startswith("|") and set(line) <= set("|-: ") and "-" in line
            for text in texts
            for line in text.splitlines()
        )
        assert len(page.select("article table")) >= tables, path
        assert len(page.select("article h2")) > 3 and page.select("article math"), path


@needs_browser
def test_every_widget_draws_and_no_page_has_an_error(book: Path, address: str) -> None:
    """A widget shows its picture, and a key changes what it says."""
    answered, errors = set(), []
    pages = [path.with_suffix(".html") for path in RELEASED]
    with chromium() as browser:
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        window.on("pageerror", lambda error: errors.append(f"{window.url}: {error}"))
        for page in [*(page for page in pages if WIDGET in (book / page).read_text()), "index.html", "review.html"]:
            window.goto(f"{address}/{page}")
            for widget in window.locator(WIDGETS).all():
                widget.scroll_into_view_if_needed()
                widget.locator("svg[role=img]").wait_for()
                said = widget.locator(".gw-text").inner_text()
                for control, key in product(widget.locator(CONTROLS).all(), KEYS):
                    control.press(key)
                    if widget.locator(".gw-text").inner_text() != said:
                        answered.add(widget.get_attribute("data-module"))
                        break
    assert errors == [] and NAMES - answered == set()
