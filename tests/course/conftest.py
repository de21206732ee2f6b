"""Shares a browser that runs the modules of figures."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.commands.mark.marker import chromium
from tests.support.widgets import Compute, text_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    yield page
    page.close()


@pytest.fixture
def compute(page: Page) -> Compute:
    """Computes with a module what it would draw in each of some states."""
    script = """async ([text, states]) => {
        const made = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
        return states.map((state) => made.compute(state));
    }"""
    return lambda name, states: page.evaluate(script, [text_of(name), states])
