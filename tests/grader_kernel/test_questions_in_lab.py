"""In JupyterLab, questions are answered with the keyboard, and the answers are in the user's home."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.commands.mark.marker import chromium, needs_browser
from tests.support.notebooks import code, notebook
from tests.support.service_hub import free_ports
from tests.support.waiting import HANGS, answers, until

pytestmark = needs_browser
CELLS = [
    "import grader_kernel.questions\n\n"
    'grader_kernel.questions.choose("c", "Which?", right={"A": "a"}, wrong={"B": "Not B."})',
    "grader_kernel.questions.review()",
]


def run_all(page: Page) -> None:
    """Run all cells; JupyterLab drops the command if the kernel has not answered yet, so it may need another one."""
    before = page.locator(".jp-InputPrompt").all_inner_texts()

    def has_run() -> bool:
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        page.wait_for_timeout(500)
        return page.locator(".jp-InputPrompt").all_inner_texts() != before

    until(has_run, "a cell that runs")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A notebook in JupyterLab whose cells ran, in which a question and the review are shown."""
    nbformat.write(notebook(*map(code, CELLS)), tmp_path / "asks.ipynb")
    (port,) = free_ports(1)
    homes = {name: str(tmp_path / name) for name in ("HOME", "XDG_STATE_HOME", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--IdentityProvider.token=",
             "--allow-root", "--LabApp.news_url=", f"--notebook-dir={tmp_path}"],
            env={**os.environ, **homes}, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/api"), "JupyterLab")
        with chromium() as browser:
            page = browser.new_page()
            page.set_default_timeout(HANGS * 1000)
            page.goto(f"http://127.0.0.1:{port}/lab/tree/asks.ipynb?reset")
            expect(page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')).to_be_visible()
            run_all(page)
            yield page
    finally:
        server.terminate()
        server.wait()


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
