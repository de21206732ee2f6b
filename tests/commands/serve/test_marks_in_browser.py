"""A student's browser opens the page from the link below the cell, and sends a request from it, without a mouse."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from grader.classroom.record.record import Record
from grader.classroom.record.requests import MAX_OPEN, answer, ask, open_requests
from tests.attacks.hostile_markup import RAN
from tests.commands.mark.marker import chromium, needs_browser
from tests.commands.serve.request_form import ask_on
from tests.commands.serve.serving import Server, written
from tests.support.axe import violations
from tests.support.small_class import NAME

NOTEBOOK = "http://jupyter.example/lab"
"""Another site than the service, as a student's JupyterLab is."""
HOSTILE = f"<script>{RAN}</script><img src=x onerror={RAN}><form action=/><button>Send</button></form>"
pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with chromium() as browser:
        yield browser


def clicked(browser: Browser, server: Server, student: str, **options: object) -> Page:
    """Return the page that a click on the student's link opens in a tab of its own."""
    link = server.ask(f"/feedback/{NAME}/small", student, b"").json["link"]
    notebook = browser.new_context(**options).new_page()  # type: ignore[arg-type]
    body = f'<a href="{server.url}/{link}" target="_blank" rel="noopener noreferrer">Open the page</a>'
    notebook.route(NOTEBOOK, lambda route: route.fulfill(body=body, content_type="text/html"))
    notebook.goto(NOTEBOOK)
    with notebook.context.expect_page() as opened:
        notebook.get_by_role("link").press("Enter")
    opened.value.wait_for_load_state()
    return opened.value


def test_a_request_by_keyboard_and_its_answer(server: Server, browser: Browser) -> None:
    """The link leads from another site to the page, which loads again; hostile texts on it stay texts.

    On a phone nothing is wider than the screen, and the page may run no script of its own either.
    """
    server.graded("ann", written(server.folder, why=HOSTILE))
    page = clicked(browser, server, "ann", viewport={"width": 390, "height": 844}, color_scheme="dark")
    expect(page.get_by_role("heading", name="small")).to_be_visible()
    assert page.locator("select option").all_text_contents()[1:] == ["one", "two", "why"]
    ask_on(page, "why", f"Why 0?\n{HOSTILE}")
    expect(page.get_by_text("You asked about why")).to_be_visible()
    expect(page.get_by_text("No answer yet.")).to_be_visible()
    assert page.url.endswith("#requests")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    [request] = [each for each in open_requests(Record(server.folder)) if each.student == "ann"]
    assert (request.cell, request.notebook, request.who) == ("why", "small", "ann") and request.why.startswith("Why 0?")
    assert "<script>" in request.why
    answer(Record(server.folder), request.id, "mia", "Now two.", lambda _: (0.0, 2.0))
    page.reload()
    expect(page.get_by_text("Answer (0 → 2 points): Now two.")).to_be_visible()
    page.evaluate(
        "() => document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    )
    assert page.title() == "small" and re.search("/page/[^/]+$", page.url.partition("#")[0])


def test_axe_finds_nothing(server: Server, browser: Browser) -> None:
    """On the page with the form, with a request and its answer, with a reason why nothing was sent, and on a refusal,
    each in light and dark: WCAG 2.1 AA holds. What was not sent stays in the form, beside the reason."""
    server.graded("dan", written(server.folder))
    page = clicked(browser, server, "dan", bypass_csp=True)  # the page itself may run no script, so neither may axe
    found = {"form": violations(page)}
    for number in range(MAX_OPEN):
        ask(Record(server.folder), "dan", NAME, "small", "why", f"please {number}")
    page.reload()
    ask_on(page, "two", "One more.")
    expect(page.get_by_role("alert")).to_contain_text("10 requests of yours wait for an answer")
    expect(page.get_by_label("What should be looked at, and why?")).to_have_value("One more.")
    expect(page.get_by_label("Which exercise?")).to_have_value("two")
    found["not sent"] = violations(page)
    request = next(each for each in open_requests(Record(server.folder)) if each.student == "dan")
    answer(Record(server.folder), request.id, "mia", "Now two.", lambda _: (0.0, 2.0))
    page.goto(page.url)
    expect(page.get_by_text("Answer (0 → 2 points): Now two.")).to_be_visible()
    found["answered"] = violations(page)
    page.goto(f"{server.url}/page/none")
    expect(page.get_by_role("heading", name="Feedback")).to_be_visible()
    found["refusal"] = violations(page)
    assert len(found) == 4 and found == dict.fromkeys(found, [])
