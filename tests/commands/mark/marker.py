"""A person who marks in a Chromium of their own."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.waiting import HANGS

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="pip cannot install Chromium; .ci/run does, so CI runs these"
)
OUTCOME = re.compile("Saved|Not saved|does not answer|is marking|Give ")
"""What the page says of a mark, saved or not."""
expect.set_options(timeout=HANGS * 1000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Marker:
    """A person with the page of a question open."""

    def __init__(self, browser: Browser, link: str, **options: object) -> None:
        self.page: Page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
        self.page.set_default_timeout(HANGS * 1000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(link)

    def open(self, address: str) -> "Marker":
        """Open a question, and wait until it is ready."""
        self.page.goto(address)
        expect(self.page.locator("#page[data-ready]")).to_be_attached()
        return self

    @property
    def status(self) -> str:
        """What the page said last."""
        return self.page.locator("#status").inner_text()

    def current(self) -> str | None:
        """Return the group that is being marked, or None."""
        found = self.page.locator(".card.current")
        return found.get_attribute("data-group") if found.count() else None

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def save(self, *keys: str) -> bool:
        """Press keys and save; return whether the page says that it was saved, once it says anything new."""
        self.page.locator("#status").evaluate("(status) => (status.textContent = '')")
        self.press(*keys, "Enter")
        expect(self.page.locator("#status")).to_have_text(OUTCOME)
        return self.status.startswith("Saved")

    def saved(self) -> dict[str, tuple[float | None, str]]:
        """Return points and comment of all groups that this page has shown as saved."""
        cards = self.page.locator(".card[data-saved]").all()
        read = ((card.get_attribute("data-group"), card.get_attribute("data-saved")) for card in cards)
        return {str(group): tuple(json.loads(saved or "")) for group, saved in read}

    def card(self, group: str) -> str:
        """Return what the head of a card says."""
        return self.page.locator(f"#answer-{group} > header").inner_text()
