"""Figures and questions can be used by people who depend on assistive technology, before and after they are used."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from course import widgets
from grader_kernel.questions import in_folder, review_page
from grader_kernel.widget import FOLDER, script
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.axe import violations
from tests.support.paths import REPOSITORY

pytestmark = [pytest.mark.slow, needs_browser]
DIV = re.compile(r'<div class="grader-widget" data-module="([\w-]+)" data-state="([^"]*)">')
SHARED = {"kit", "page"}
MODULES = {
    path.stem: path for place in (FOLDER, widgets.FOLDER) for path in place.glob("*.js") if path.stem not in SHARED
}
KINDS = {"choose", "number", "order", "point"}
USE = """() => {
    for (const input of document.querySelectorAll(".gw input[type=range]")) {
        input.value = input.value === input.max ? input.min : input.max;
        input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    for (const select of document.querySelectorAll(".gw select")) {
        select.selectedIndex = select.options.length - 1;
        select.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const control of document.querySelectorAll(".gw :is(input[type=checkbox], button)")) control.click();
    for (const question of document.querySelectorAll(".gq")) {
        for (const text of question.querySelectorAll("input[type=text]")) text.value = "12345";
        question.querySelector("input[type=radio], button[aria-pressed]")?.click();
        [...question.querySelectorAll("button")].find((button) => button.textContent === "Answer")?.click();
    }
}"""
"""Moves each control of each figure, and answers each question."""
LONG_AGO = 1_600_000_000
"""A time in seconds: what was answered then is due for review."""


def divs() -> dict[str, str]:
    """Return the first widget of each module and kind of question in the instructors' notebooks, and the review."""
    found: dict[str, str] = {}
    for path in sorted(REPOSITORY.glob("source/**/*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            for output in cell.get("outputs", ()):
                html = "".join(output.get("data", {}).get("text/html", ()))
                if match := DIV.search(html):
                    state = json.loads(unescape(match[2]))
                    kind = state["question"]["kind"] if "question" in state else match[1]
                    found.setdefault(kind, html)
    return found | {"review": review_page([REPOSITORY / "release" / "01-aggregation"])}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A page with a widget of each module and kind of question; an error of a script fails the test."""
    for path in MODULES.values():
        (tmp_path / path.name).write_text(script(path))
    (tmp_path / "page.js").write_text((FOLDER / "page.js").read_text())
    (tmp_path / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Widgets</title><style>:root { color-scheme: light dark }</style>"
        f"<main>{''.join(divs().values())}</main>"
        '<script defer src="page.js"></script>'
    )
    asked = in_folder(REPOSITORY / "release" / "01-aggregation")
    answered = {each["name"]: {"answers": [{"right": False, "answer": "?", "time": LONG_AGO}]} for each in asked}
    errors: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(f"localStorage.setItem('grader-questions', {json.dumps(json.dumps(answered))})")
        page.goto((tmp_path / "index.html").as_uri())
        yield page
    assert errors == []


def test_axe_finds_nothing_before_and_after_use(page: Page) -> None:
    """In light and dark, each figure with its controls moved and each question answered: WCAG 2.1 AA holds."""
    assert (
        divs().keys() == (MODULES.keys() - {"question"}) | KINDS
    )  # a new module is in a notebook, and so in this test
    shown = page.locator(".grader-widget > div")
    expect(shown).to_have_count(len(divs()))
    expect(page.locator(".gq")).to_have_count(len(KINDS) + 1)  # the review asks one, too
    before = shown.all_inner_texts()
    assert violations(page) == []
    page.evaluate(USE)
    after = shown.all_inner_texts()
    assert all(one != other for one, other in zip(before, after, strict=True)), "each was used"
    assert violations(page) == []
