"""In JupyterLab, questions are answered with the keyboard, and the answers are in the user's home."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.commands.mark.marker import chromium, needs_browser
from tests.support.jupyterlab import jupyterlab, opened, run_all
from tests.support.notebooks import code, notebook
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, needs_browser]
CELLS = [
    "import grader_kernel.questions\n\n"
    'grader_kernel.questions.choose("c", "Which?", right={"A": "a"}, wrong={"B": "Not B."})',
    "grader_kernel.questions.review()",
]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A notebook in JupyterLab whose cells ran, in which a question and the review are shown."""
    nbformat.write(notebook(*map(code, CELLS)), tmp_path / "asks.ipynb")
    with jupyterlab(tmp_path) as address, chromium() as browser:
        page = opened(browser, f"{address}/asks.ipynb")
        run_all(page)
        yield page


def test_an_answer_is_kept_in_the_user_s_home(page: Page, tmp_path: Path) -> None:
    """Keys go to the question, not to JupyterLab. After "Run All" the cell knows the answer, and nothing is due yet."""

    def kept() -> list[dict[str, Any]]:
        file = tmp_path / "XDG_STATE_HOME" / "grader" / "questions.json"
        return list(json.loads(file.read_text())["c"]["answers"]) if file.exists() else []

    box = page.locator(".gq")
    expect(page.locator(".gw").last).to_contain_text("There is nothing to review yet.")
    wrong, right = (box.get_by_role("radio", name=name) for name in "BA")
    # JupyterLab takes the focus once more after its last cell.
    until(lambda: wrong.press("Space") or wrong.is_checked())
    wrong.press("Enter")
    expect(box.get_by_role("status")).to_have_text("✗ Not right. Not B.Try again.")
    wrong.press("ArrowDown")  # to the next answer, and not to the next cell
    expect(right).to_be_checked()
    right.press("Enter")
    expect(box.get_by_role("status")).to_have_text("✓ Right. a")
    assert [each["right"] for each in until(lambda: kept() if len(kept()) == 2 else None)] == [False, True]
    expect(page.locator(".jp-CodeCell")).to_have_count(2)  # no key made or deleted a cell
    run_all(page)
    expect(box).to_contain_text("right at the 2nd attempt.")
    expect(page.locator(".gw").last).to_contain_text("Nothing is due; next: tomorrow.")
    page.keyboard.press("Control+S")
    saved = until(lambda: text if "data-state" in (text := (tmp_path / "asks.ipynb").read_text()) else "")
    assert "answers&quot;: []" in saved and "2nd attempt" not in saved
