"""Does in the formgrader what an instructor does: presses buttons, waits for what they report, and marks."""

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.hub.lab import visit


class Formgrader:
    """The formgrader of an instructor's server, in a browser tab of its own."""

    def __init__(self, page: Page) -> None:
        """Take a tab that shows the formgrader."""
        page.wait_for_url("**/formgrader/**")
        self.page, self.url = page, page.url.removesuffix("/manage_assignments")

    def press(self, row: str, button: str, table: str = "manage_assignments") -> None:
        """Press a button and wait for its success.

        Args:
            row: a text of the row with the button.
            button: the class of its column, such as "generate-feedback".
            table: the address of the table.

        Raises:
            AssertionError: the formgrader reports an error; its log is in the message.
        """
        self.page.goto(f"{self.url}/{table}")
        self._cell(row, button).locator("a").click()
        said = self.page.locator("#success-modal, #error-modal")
        expect(said).to_be_visible()
        assert said.get_attribute("id") == "success-modal", said.inner_text()

    def ask(self, question: str) -> list[dict[str, Any]]:
        """Return what the formgrader reads in the gradebook."""
        answer = visit(self.page, f"{self.url}/api/{question}")
        assert answer.status == 200, answer.text
        found: list[dict[str, Any]] = json.loads(answer.text)
        return found

    def mark(self, assignment: str, notebook: str, points: float) -> None:
        """Give points for the written answer at the end of the only submission of a notebook."""
        [submitted] = self.ask(f"submitted_notebooks/{assignment}/{notebook}")
        self.page.goto(f"{self.url}/submissions/{submitted['id']}/")
        # The page shows a mark when it has asked for all of them; what is written before that is not saved.
        expect(self.page.locator("input.score").first).to_have_attribute("placeholder", "1")
        with self.page.expect_response("**/formgrader/api/grade/*") as saved:
            self.page.locator("input.score").last.fill(str(points))
            self.page.keyboard.press("Tab")
        assert saved.value.ok

    def _cell(self, row: str, column: str) -> Locator:
        return self.page.locator("#main-table tr").filter(has_text=row).locator(f".{column}")
