"""JupyterLab with the settings of deploy/student, in the light and in the dark theme."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.commands.mark.marker import chromium, needs_browser
from tests.support.jupyterlab import jupyterlab, menu, opened, run_all, set_theme
from tests.support.notebooks import code, notebook, text
from tests.support.paths import REPOSITORY

pytestmark = [pytest.mark.slow, needs_browser]
SETTINGS = REPOSITORY / "deploy" / "student"
RELEASED = REPOSITORY / "release" / "04-attention" / "2-self-attention.ipynb"
EXERCISE = "split-heads"
TOKENS = '''# (B, L, D)
import os as system

@staticmethod
class Layer(nn.Module):
    def forward(self, x: torch.Tensor, *rest, **named) -> None:
        """Docstring."""
        a[0, 1:] = {"k": [1.0, 2, True, None]}    # (B, L, D)
        text = f"a {x!r:>3} \\n" + r"\\d" + b"x"
        print(self.weight.data, len(x) ** 2, super().__init__(), lambda z: z @ x.T if x <= 3 else ...)
        raise NotImplementedError()
'''
SLOW = """
import pathlib
import time
from grader_kernel.running import with_progress

for _ in with_progress(range(2)):
    while not pathlib.Path("go").exists():
        time.sleep(0.1)
"""
LONG = "one line of many words that does not fit into the window, " * 5
THEMES = pytest.mark.parametrize("theme", ["Light", "Dark"])
CONTRASTS = """elements => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number)
    const linear = part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    const ground = element => {
        for (; element; element = element.parentElement) {
            const [r, g, b, a = 1] = numbers(getComputedStyle(element).backgroundColor)
            if (a == 1) return [r, g, b]
        }
    }
    return elements.map(element => {
        const [low, high] = [numbers(getComputedStyle(element).color), ground(element)].map(luminance).sort()
        return [element.textContent, (high + 0.05) / (low + 0.05)]
    })
}"""
"""The texts of elements, and the contrast of each with its ground, by WCAG 2.1."""


def cells() -> list[Any]:
    """Return cells of a released notebook with an exercise in which nothing is written, and some of our own."""
    found = nbformat.read(RELEASED, as_version=4).cells
    names = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in found]
    picture = next(cell for cell in found if "figures.heatmap" in cell.source)
    vectors = found[: found.index(picture)]
    exercise = [cell for cell, name in zip(found, names, strict=True) if name.startswith(EXERCISE)]
    return [
        *(each for each in vectors if each.cell_type == "code"),
        picture,
        *exercise,
        text(LONG),
        code(TOKENS, "raises-exception"),
        code(SLOW),
    ]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for both pages."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The student's folder."""
    return tmp_path_factory.mktemp("student")


@pytest.fixture(scope="module")
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The notebook as a student sees it after "Run All"; the last cell still runs."""
    nbformat.write(notebook(*cells()), folder / "few.ipynb")
    with jupyterlab(folder, SETTINGS) as address:
        page = opened(browser, f"{address}/few.ipynb", height=2400)
        run_all(page)
        expect(cell(page, "def forward").locator(".jp-InputPrompt")).not_to_have_text(re.compile(r"\*| "))
        yield page


def cell(page: Page, text: str) -> Locator:
    """Return the first code cell with a text."""
    return page.locator(".jp-CodeCell").filter(has_text=text).first


def contrasts(found: Locator) -> dict[str, float]:
    """Return the contrast of each text with its ground."""
    return dict(found.evaluate_all(CONTRASTS))


def test_long_lines_wrap(page: Page) -> None:
    """No cell has a scroll bar at its lower edge, neither code nor a text that is being written."""
    page.locator(".jp-RenderedMarkdown").filter(has_text="one line of many words").dblclick()
    expect(page.locator(".jp-MarkdownCell .cm-line")).to_be_visible()
    assert len(max(page.locator(".cm-line").all_inner_texts(), key=len)) > 200
    is_cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent)"
    assert page.locator(".cm-scroller").evaluate_all(is_cut) == []
    page.keyboard.press("Control+Enter")


def test_nbgraders_menu_has_only_what_students_use(page: Page) -> None:
    """The list of assignments, and the button "Validate" above the notebook; no tool for instructors, and no news."""
    assert menu(page, "Nbgrader") == ["Assignment List"]
    expect(page.get_by_role("button", name="Validate")).to_be_visible()
    expect(page.get_by_text("Create Assignment")).to_have_count(0)
    expect(page.locator(".jp-toast-message, .Toastify__toast")).to_have_count(0)


def test_a_hidden_test_is_one_readable_line(page: Page) -> None:
    """The cell holds its sentence: nothing above or below it, no output, and no scroll bar."""
    hidden = page.locator(".jp-CodeCell").filter(has_text="# Hidden test of")
    sources = [each.source for each in cells() if each.source.startswith("# Hidden test of")]
    assert hidden.count() == len(sources) == 3
    for number, source in enumerate(sources):
        expect(hidden.nth(number).locator(".cm-line")).to_have_text([source])
        expect(hidden.nth(number).locator(".jp-OutputArea-output")).to_have_count(0)
        line = hidden.nth(number).locator(".cm-line").bounding_box()
        whole = hidden.nth(number).bounding_box()
        assert line and whole and whole["height"] - line["height"] < 30
        assert line["x"] + line["width"] < whole["x"] + whole["width"]


@THEMES
def test_a_blank_is_a_calm_line(page: Page, theme: str) -> None:
    """It names the exercise, in the colour of text, and nothing is red."""
    set_theme(page, theme)
    output = cell(page, f"# Check of {EXERCISE}").locator(".jp-OutputArea-output")
    expect(output).to_have_count(1)
    expect(output).to_contain_text(f"○ Not written yet: {EXERCISE}.")
    assert output.get_attribute("data-mime-type") is None or "stdout" in str(output.get_attribute("data-mime-type"))
    assert min(contrasts(output.locator("pre")).values()) > 7
    red = '[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]'
    expect(page.locator(".jp-CodeCell").filter(has_text=EXERCISE).locator(red)).to_have_count(0)


@THEMES
def test_code_has_the_contrast_of_text(page: Page, theme: str) -> None:
    """Comments, the line that stands for a folded check, and every other kind of word in code: 4.5 or more."""
    set_theme(page, theme)
    spans = page.locator(".jp-CodeCell .cm-line span, .jp-InputPlaceholder *")
    found = contrasts(spans)
    assert {"# (B, L, D)", "@", "2", "None", "forward"} <= set(found)
    assert {text: ratio for text, ratio in found.items() if ratio < 4.5} == {}


@THEMES
def test_pictures_stand_on_a_light_ground(page: Page, theme: str) -> None:
    """They are drawn in black on white, and in the dark a margin keeps their letters away from the black page."""
    set_theme(page, theme)
    picture = page.locator(".jp-OutputArea-output img")
    expect(picture).to_have_css("padding", "8px" if theme == "Dark" else "0px")
    # JupyterLab covers the page until the theme is loaded.
    expect(page.locator("#jupyterlab-splash, .jp-Dialog")).to_have_count(0)
    with Image.open(io.BytesIO(picture.screenshot())) as image:
        grey = image.convert("L")
    width, height = grey.size
    # The outermost pixels may be mixed with the page.
    begin, end = (2, 7) if theme == "Dark" else (2, 3)
    edges = (20, begin, width - 20, end), (begin, 20, end, height - 20), (width - end, 20, width - begin, height - 20)
    assert [grey.crop(edge).getextrema() for edge in edges] == 3 * [(255, 255)]
    assert grey.getextrema()[0] < 50


def test_a_long_cell_says_how_far_it_is(page: Page, folder: Path) -> None:
    """The line is there while the cell runs, and leaves no space and no word in the file."""
    slow = cell(page, "grader_kernel.running")
    expect(slow.locator(".jp-OutputArea-output")).to_have_text(re.compile("░{20} 0 of 2"))
    (folder / "go").touch()
    expect(slow.locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    expect(slow.locator(".jp-OutputArea-output").filter(has_text=re.compile(r"\S"))).to_have_count(0)
    assert all(
        output.evaluate("each => each.offsetHeight") < 10 for output in slow.locator(".jp-OutputArea-child").all()
    )
    page.keyboard.press("Control+S")
    expect(page.locator("#jp-main-dock-panel .jp-mod-dirty")).to_have_count(0)
    assert "Not written yet" in (saved := (folder / "few.ipynb").read_text()) and "of 2" not in saved
