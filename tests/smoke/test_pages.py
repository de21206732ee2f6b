"""The book and its widgets once, in a browser. tests/book and tests/course look closer."""

from pathlib import Path

import nbformat
from bs4 import BeautifulSoup

from book.notebook import WIDGET
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.paths import REPOSITORY

RELEASED = sorted(path.relative_to(REPOSITORY / "release") for path in REPOSITORY.glob("release/*/*.ipynb"))
OTHERS = ("index", "start", "glossary", "papers", "review", "search", "docs/students", "docs/instructors")
WIDGETS = 13


def test_the_book_has_a_page_for_each_notebook(book: Path) -> None:
    """With all tables, pictures and formulas of the released notebook."""
    assert [name for name in OTHERS if not (book / f"{name}.html").is_file()] == []
    for path in RELEASED:
        page = BeautifulSoup((book / path.with_suffix(".html")).read_text(), "html.parser")
        cells = nbformat.read(REPOSITORY / "release" / path, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        tables = sum(line.startswith("|") and set(line) <= set("|-: ") for text in texts for line in text.splitlines())
        assert len(page.select("article table")) >= tables, path
        assert len(page.select("article h2")) > 3 and page.select("article math"), path


@needs_browser
def test_every_widget_draws_and_no_page_has_an_error(book: Path) -> None:
    """A widget shows its picture and what it means, and answers to a key."""
    drawn, errors = 0, []
    pages = [path.with_suffix(".html") for path in RELEASED]
    with chromium() as browser:
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        window.on("pageerror", lambda error: errors.append(f"{window.url}: {error}"))
        for name in [*(page for page in pages if WIDGET in (book / page).read_text()), "index.html", "review.html"]:
            window.goto((book / name).as_uri())
            for widget in window.locator(".grader-widget").all():
                widget.scroll_into_view_if_needed()
                widget.locator("svg[role=img]").first.wait_for()
                control, said = (
                    widget.locator(".gw-controls :is(input, select, button)").first,
                    widget.locator(".gw-text"),
                )
                before = said.inner_text()
                is_button = control.evaluate("element => element.type") == "button"
                for key in ("Enter",) if is_button else ("End", "Home"):
                    control.press(key)
                    drawn += said.inner_text() != before
                    if said.inner_text() != before:
                        break
    assert errors == [] and drawn == WIDGETS
