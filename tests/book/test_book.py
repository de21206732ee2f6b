"""The book has every notebook with its pictures, nothing that the release hides, and nothing from elsewhere."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page

from book.errors import BookError
from book.links import check_links
from book.pages import GUIDES
from book.settings import Settings
from grader.engine.notebook.cells import CellType, type_of
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.axe import violations
from tests.support.paths import REPOSITORY

NOTEBOOKS = sorted(path.relative_to(REPOSITORY / "source") for path in REPOSITORY.glob("source/*/*.ipynb"))
FIRST_VIEW = 1_500_000
"""The most bytes that a page may load before a reader scrolls."""

READ = (
    *("index.html", "start.html", "glossary.html", "papers.html", "review.html", "search.html"),
    *("04-attention/index.html", "05-transformer/1-positions-and-blocks.html", "07-modern/2-attention-that-fits.html"),
    *("docs/instructors.html", "packages/grader/docs/grader.html"),
)
"""Pages of each kind."""

CUT_OFF = ".bd-article :is(pre, .cell_output, .math, .pst-scrollable-table-container)"
TOO_WIDE = "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth).length"
NAVIGATION = ".book-open, .headerlink, .bd-sidebar-primary, .bd-sidebar-secondary, .prev-next-footer, #jb-print-toc"

# One worker builds the book, for all its tests.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("book")]

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent}/{path.stem}")


@pytest.fixture
def opened(address: str) -> Iterator[Callable[..., Page]]:
    """Opens a page of the book in a window; an error in its console fails the test."""
    errors: list[str] = []
    with chromium() as browser:

        def open_page(path: str, *, width: int = 1280, dark: bool = False) -> Page:
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
            page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(f"{address}/{path}")
            return page

        yield open_page
    assert [error for error in errors if "favicon" not in error and "404" not in error] == []


def hidden_lines(path: Path) -> set[str]:
    """Return what a source notebook has and its release lacks, by line; short lines could stand anywhere."""
    source = nbformat.read(REPOSITORY / "source" / path, as_version=4)
    released = "\n".join(cell.source for cell in nbformat.read(REPOSITORY / "release" / path, as_version=4).cells)
    secret = {line.strip() for cell in source.cells for line in cell.source.splitlines()}
    return {line for line in secret if len(line) >= 25 and line not in released}


def test_nothing_that_the_release_hides_is_in_any_file(book: Path) -> None:
    """No line of a solution, a test or a marking scheme; a guide may quote one, and another notebook may show it."""
    released = [nbformat.read(REPOSITORY / "release" / path, as_version=4) for path in NOTEBOOKS]
    shown = "\n".join(cell.source for notebook in released for cell in notebook.cells)
    shown += "\n".join(path.read_text() for pattern in GUIDES for path in REPOSITORY.glob(pattern))
    files = [path for path in book.rglob("*") if path.is_file() and path.suffix not in (".png", ".woff2", ".inv")]
    texts = {
        path: path.read_text() if path.suffix == ".js" else unescape(re.sub(r"<[^>]+>", "", path.read_text()))
        for path in files
    }
    assert len(texts) > 60
    for notebook in NOTEBOOKS:
        hidden, page = hidden_lines(notebook), book / notebook.with_suffix(".html")
        assert len(hidden) > 20, "this notebook has solutions and tests"
        for path, text in texts.items():
            is_strict = path == page or path.suffix == ".js"
            assert [line for line in hidden if line in text and (is_strict or line not in shown)] == [], path
    assert not any(file.suffix in (".ipynb", ".md", ".txt") for file in files if "LICENSE" not in file.name)


@each_notebook
def test_every_picture_and_question_of_a_visible_cell_is_shown(book: Path, path: Path) -> None:
    """A picture that the source stores for a released cell is there with its text, a question without its code."""
    page, release = (book / path.with_suffix(".html")).read_text(), (REPOSITORY / "release" / path).read_text()
    released = {cell.id: cell.source for cell in nbformat.reads(release, as_version=4).cells}
    expected = [
        alt
        for cell in nbformat.read(REPOSITORY / "source" / path, as_version=4).cells
        if cell.cell_type == "code" and released.get(cell.id) == cell.source and type_of(cell) is CellType.UNMARKED
        for output in cell.outputs
        for alt in re.findall(r'<img alt="([^"]*)"', output.get("data", {}).get("text/html", ""))
    ]
    assert expected and re.findall(r'<img alt="([^"]*)" src="[^"]*pictures/', page) == expected
    assert page.count('data-module="question"') == release.count("import grader_kernel.questions")
    assert "grader_kernel.questions" not in re.sub(r"<[^>]+>", "", page)


def test_a_first_view_is_small(book: Path) -> None:
    """Pictures that wait for the reader do not count."""
    for path in book.rglob("*.html"):
        text = path.read_text()
        loaded = {*re.findall(r'<(?:script|link)[^>]*?(?:src|href)="([^"#?]+\.(?:js|css))', text)}
        loaded |= {f"{name}" for name in re.findall(r'<img(?![^>]*loading="lazy")[^>]*src="([^"]+)"', text)}
        files = [path, *(path.parent / name for name in loaded if not name.startswith("data:"))]
        assert sum(file.stat().st_size for file in files if file.exists()) < FIRST_VIEW, path


@needs_browser
def test_a_page_works_on_a_phone_and_in_the_dark(opened: Callable[..., Page]) -> None:
    """Wide code scrolls in its box, the page does not, widgets have the page's ground, questions need no kernel."""
    for dark in (False, True):
        page = opened("04-attention/1-vanilla-attention.html", width=390, dark=dark)
        page.wait_for_selector(".gq, .gw")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        ground = "element => getComputedStyle(element.closest('.cell_output > *')).backgroundColor"
        assert page.locator(".grader-widget").first.evaluate(ground) == "rgba(0, 0, 0, 0)"
        page.get_by_role("button", name="Answer", exact=True).first.click()
        page.close()


@needs_browser
@pytest.mark.parametrize("name", ["1-vanilla-attention", "2-self-attention", "3-what-attention-learns"])
def test_a_phone_shows_formulas_whole_and_a_thumb_meets_each_control(opened: Callable[..., Page], name: str) -> None:
    """No formula or question has to be scrolled; wide pictures are, and stay large enough to read."""
    page = opened(f"04-attention/{name}.html", width=390)
    page.wait_for_selector(".gq")
    formulas = page.locator("div.math, p:has(> math), .gq-scroll").all()
    scrolls = "box => box.scrollWidth > box.clientWidth"
    assert formulas and [box.inner_text() for box in formulas if box.evaluate(scrolls)] == []
    widths = [picture.bounding_box()["width"] for picture in page.locator(".book-wide").all()]
    assert widths and min(widths) > 600
    controls = ".gq label:has(input), .gw-controls :is(input, select), .gw button, .bd-article summary"
    boxes = [control.bounding_box() for control in page.locator(controls).all() if control.is_visible()]
    assert boxes and [box for box in boxes if min(box["width"], box["height"]) < 24] == []


@needs_browser
@pytest.mark.parametrize("path", READ)
def test_axe_finds_nothing(opened: Callable[..., Page], path: str) -> None:
    """The rules of WCAG 2.1, levels A and AA, hold; every other page is read in the dark."""
    is_dark = READ.index(path) % 2 == 0
    page = opened(path, dark=is_dark)
    page.wait_for_load_state("networkidle")
    assert violations(page, schemes=("dark" if is_dark else "light",)) == []


@needs_browser
def test_no_page_is_wider_than_a_phone(book: Path, opened: Callable[..., Page]) -> None:
    """Names of files and long formulas break or scroll in their own boxes."""
    page = opened("index.html", width=390)
    wide = {}
    for path in sorted(book.rglob("*.html")):
        page.goto(path.as_uri())
        wide[path.name] = page.evaluate("document.documentElement.scrollWidth")
    assert len(wide) > 30 and {name: width for name, width in wide.items() if width > 390} == {}


@needs_browser
def test_search_finds_a_word(book: Path, opened: Callable[..., Page]) -> None:
    """The index is a file of the book, which may be opened as a file: then no other is read for the text around."""
    page = opened("search.html?q=softmax")
    page.wait_for_selector("#search-results li a")
    assert "attention" in page.inner_text("#search-results").lower()
    page.goto(f"{book.as_uri()}/search.html?q=softmax")
    page.wait_for_selector("#search-results li a")
    page.wait_for_function("Search.output.children.length > 3")


def test_buttons_have_the_form_that_their_services_expect() -> None:
    """And each says what it needs; without settings there is none."""
    settings = Settings(repository="https://github.com/some/course", branch="term", hub="https://hub.example.org")
    urls = {each.name: each.url for each in settings.launches("04-attention/1-vanilla-attention.ipynb")}
    assert list(Settings().launches("a.ipynb")) == []
    assert all(each.needs for each in settings.launches("a.ipynb"))
    for part, start in (
        ("Hub", "https://hub.example.org/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com%2Fsome%2Fcourse"),
        ("Binder", "https://mybinder.org/v2/gh/some/course/term?urlpath=lab%2Ftree%2F"),
        ("Colab", "https://colab.research.google.com/github/some/course/blob/term/"),
    ):
        url = next(url for name, url in urls.items() if part in name)
        assert url.startswith(start)
        assert part != "Hub" or ("branch=term" in url and "urlpath=lab%2Ftree%2Fcourse%2F" in url)
    assert all(url.endswith("1-vanilla-attention.ipynb") for url in urls.values())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads to no file"),
        ('<a href="#gone">x</a>', "#gone leads to no anchor"),
        ('<script src="https://cdn.example.org/x.js"></script>', "is loaded from a foreign host"),
        ('<img src="//cdn.example.org/x.png">', "is loaded from a foreign host"),
        ('<div style="background: url(https://cdn.example.org/x.png)"></div>', "is loaded from a foreign host"),
        ('<img src="x.png">', "is loaded and does not exist"),
    ],
)
def test_a_broken_or_foreign_address_is_refused(tmp_path: Path, body: str, says: str) -> None:
    """The build checks each page that it wrote."""
    tmp_path.joinpath("index.html").write_text(
        f'<p id="here"><a href="https://arxiv.org/abs/1706.03762">paper</a>{body}</p>'
    )
    with pytest.raises(BookError, match=re.escape(says)):
        check_links(tmp_path)
    tmp_path.joinpath("index.html").write_text('<p id="here"><a href="#here">x</a></p>')
    check_links(tmp_path)


@needs_browser
def test_a_printed_page_is_whole_and_has_no_navigation(opened: Callable[..., Page]) -> None:
    """On paper no box is cut off, pictures that answer a question and hints are there, folded code is left out."""
    page = opened("02-recurrence/2-gates.html", width=718)  # A4 within margins of 1 cm
    page.wait_for_selector(".gq")
    hint, answer = page.locator("details:not(.hide) > p").first, page.locator("details.hide.above-output img").first
    code = page.locator("details.hide.above-input pre").first
    assert page.locator(CUT_OFF).evaluate_all(TOO_WIDE) > 0, "on a screen they scroll"
    page.emulate_media(media="print")
    assert page.locator(CUT_OFF).evaluate_all(TOO_WIDE) == 0
    assert all(part.bounding_box()["height"] > 10 for part in (hint, answer))  # type: ignore[index]
    assert not code.is_visible() and page.locator(NAVIGATION).count() > 5
    assert not any(part.is_visible() for part in page.locator(NAVIGATION).all())
