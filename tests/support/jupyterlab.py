"""Opens a notebook in a JupyterLab of its own, and does what the menus do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.support.service_hub import free_ports
from tests.support.waiting import HANGS, answers, until


@contextmanager
def jupyterlab(folder: Path, settings: Path | None = None) -> Iterator[str]:
    """Start JupyterLab, and yield the address at which it shows a folder, whose user has no settings.

    Args:
        folder: the folder with notebooks, in which the user's home is made.
        settings: a folder with settings for all users.
    """
    (port,) = free_ports(1)
    homes = {name: str(folder / name) for name in ("HOME", "XDG_STATE_HOME", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    path = {"JUPYTER_CONFIG_PATH": str(settings)} if settings else {}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--IdentityProvider.token=",
             "--allow-root", "--LabApp.news_url=", f"--notebook-dir={folder}"],
            env={**os.environ, **homes, **path}, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/api"), "JupyterLab")
        yield f"http://127.0.0.1:{port}/lab/tree"
    finally:
        server.terminate()
        server.wait()


def opened(browser: Browser, address: str, height: int = 900) -> Page:
    """Open a notebook and nothing else, in a window of 1280 pixels' width, and wait for its kernel."""
    page = browser.new_page(viewport={"width": 1280, "height": height})
    page.set_default_timeout(HANGS * 1000)
    page.goto(f"{address}?reset")
    expect(page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')).to_be_visible()
    return page


def menu(page: Page, name: str) -> list[str]:
    """Return what a menu offers."""
    page.get_by_role("menuitem", name=name, exact=True).click()
    items = page.locator(".lm-Menu .lm-Menu-itemLabel").filter(visible=True)
    expect(items.first).to_be_visible()
    found = list(filter(None, items.all_inner_texts()))
    page.keyboard.press("Escape")
    return found


def run_all(page: Page) -> None:
    """Run all cells; JupyterLab drops the command if the kernel has not answered yet, so it may need another one."""
    before = page.locator(".jp-InputPrompt").all_inner_texts()

    def has_run() -> bool:
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        page.wait_for_timeout(500)
        now = page.locator(".jp-InputPrompt").all_inner_texts()
        # A cell that is drawn only now has a prompt, too, and it is empty.
        return bool({prompt for prompt in now if prompt != "[ ]:"} - set(before))

    until(has_run, "a cell that runs")


def set_theme(page: Page, name: str) -> None:
    """Choose the theme "Light" or "Dark"."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel").filter(has_text="Theme").first.hover()
    page.locator('.lm-Menu-item[data-command="apputils:change-theme"]').filter(
        has_text=f"JupyterLab {name}"
    ).first.click()
    expect(page.locator(f'body[data-jp-theme-light="{str(name == "Light").lower()}"]')).to_be_attached()
    page.keyboard.press("Escape")
