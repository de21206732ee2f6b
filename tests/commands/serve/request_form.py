"""Fills in the form for requests on a feedback page."""

from playwright.sync_api import Page, expect


def ask_on(page: Page, exercise: str, text: str) -> None:
    """Write a request and send it, with keys alone."""
    page.locator("summary", has_text="look at something again").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Which exercise?")).to_be_focused()
    page.keyboard.type(exercise)
    page.keyboard.press("Tab")
    expect(page.get_by_label("What should be looked at, and why?")).to_be_focused()
    page.keyboard.insert_text(text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_load_state()
