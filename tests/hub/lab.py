"""Does in JupyterLab what a person does: logs in, opens a notebook, writes into cells, runs and saves them."""

import re
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.jupyterlab import await_kernel
from tests.support.waiting import HANGS


class Answer(NamedTuple):
    """What the browser got for an address."""

    status: int
    text: str
    headers: dict[str, str]


def visit(page: Page, url: str) -> Answer:
    """Open an address in a tab of its own, with the cookies of a page."""
    tab = page.context.new_page()
    answer = tab.goto(url)
    assert answer is not None
    found = Answer(answer.status, answer.text(), answer.headers)
    tab.close()
    return found


class Lab:
    """A user's JupyterLab, in a browser that has no cookies of others."""

    def __init__(self, browser: Browser, url: str, user: str, password: str) -> None:
        """Log in at a hub, which then starts the user's server."""
        self.url, self.user = url, user
        context = browser.new_context(viewport={"width": 1100, "height": 900})
        context.set_default_timeout(HANGS * 1000)
        self.page: Page = context.new_page()
        self.page.goto(f"{url}/hub/login")
        self.page.fill("#username_input", user)
        self.page.fill("#password_input", password)
        self.page.click("#login_submit")

    def wait(self) -> None:
        """Wait until the user's server runs."""
        self.page.wait_for_url(f"{self.url}/user/{self.user}/lab**")

    def open(self, path: str) -> None:
        """Open a notebook and nothing else, and wait for its kernel."""
        self.wait()
        self.page.goto(f"{self.url}/user/{self.user}/lab/tree/{path}?reset")
        await_kernel(self.page)

    def menu(self, name: str) -> Locator:
        """Open a menu, and return its items."""
        self.wait()
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        return self.page.locator(".lm-Menu .lm-Menu-itemLabel").filter(visible=True).filter(has_text=re.compile(r"\S"))

    def cell(self, text: str) -> Locator:
        """Return the code cell with a text."""
        return self.page.locator(".jp-CodeCell").filter(has_text=text).first

    def write(self, cell: Locator, source: str) -> None:
        """Write a source in place of what a cell holds."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)

    def answer(self, source: str) -> None:
        """Write a source in place of the box for a written answer, the only one in the notebook."""
        cell = self.page.locator(".jp-MarkdownCell").filter(has_text="YOUR ANSWER HERE")
        cell.locator(".jp-RenderedMarkdown").dblclick()
        self.write(cell, source)

    def append(self, source: str) -> Locator:
        """Write a source into a new last cell, and return it."""
        self.page.locator(".jp-Notebook-footer").click()
        last = self.page.locator(".jp-CodeCell").last
        self.write(last, source)
        return last

    def run(self, cell: Locator) -> Locator:
        """Run a cell; return its output once it has ended."""
        prompt = cell.locator(".jp-InputArea-prompt")
        before = prompt.inner_text()
        # At its edge, a click neither unfolds hidden code nor puts the cursor into the text.
        cell.click(position={"x": 2, "y": 2})
        expect(cell).to_have_class(re.compile("jp-mod-active"))
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator('.lm-Menu-item[data-command="notebook:run-cell"]').click()
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"))
        return cell.locator(".jp-Cell-outputArea")

    def press(self, cell: Locator) -> Locator:
        """Press the button below a cell that hands in; return the cell's output once it has a new report."""
        output = cell.locator(".jp-Cell-outputArea")
        output.locator(".jp-RenderedHTMLCommon").last.evaluate("report => report.textContent = ''")
        output.get_by_role("button").click()
        expect(output).to_contain_text("points from tests")
        return output

    def save(self) -> None:
        """Save the notebook, and wait until it is saved."""
        self.page.keyboard.press("Control+S")
        expect(self.page.locator("#jp-main-dock-panel .jp-mod-dirty")).to_have_count(0)
