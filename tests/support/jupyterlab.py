"""Opens a notebook in a JupyterLab of its own, and does what the menus do."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.support.service_hub import free_ports
from tests.support.waiting import HANGS, answers, until


@contextmanager
def jupyter(program: str, arguments: Iterable[str], **options: Any) -> Iterator[str]:
    """Start a Jupyter server without a token, and yield its address once it answers.

    Args:
        program: the module that is run.
        arguments: more arguments of its command line.
        options: those of `subprocess.Popen`.
    """
    (port,) = free_ports(1)
    command = [sys.executable, "-m", program, "--no-browser", f"--port={port}", "--allow-root"]
    server = subprocess.Popen([*command, "--IdentityProvider.token=", *arguments], **options)
    try:
        until(lambda: answers(f"http://localhost:{port}/api"), program)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def jupyterlab(folder: Path, settings: Path | None = None) -> Iterator[str]:
    """Start JupyterLab, and yield the address at which it shows a folder, whose user has no settings.

    Args:
        folder: the folder with notebooks, in which the user's home is made.
        settings: a folder with settings for all users.
    """
    homes = {name: str(folder / name) for name in ("HOME", "XDG_STATE_HOME", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    environment = {**os.environ, **homes, **({"JUPYTER_CONFIG_PATH": str(settings)} if settings else {})}
    arguments = ["--LabApp.news_url=", f"--notebook-dir={folder}"]
    with (
        (folder / "log").open("w") as log,
        jupyter("jupyterlab", arguments, env=environment, stdout=log, stderr=subprocess.STDOUT) as address,
    ):
        yield f"{address}/lab/tree"


def opened(browser: Browser, address: str, height: int = 900) -> Page:
    """Open a notebook and nothing else, in a window of 1280 pixels' width, and wait for its kernel."""
    page = browser.new_page(viewport={"width": 1280, "height": height})
    page.set_default_timeout(HANGS * 1000)
    page.goto(f"{address}?reset")
    await_kernel(page)
    return page


def await_kernel(page: Page) -> None:
    """Wait until the kernel of a notebook is idle.

    The indicator beside the kernel's name is "idle" before there is a kernel, too. "Run All" then asks for one in a
    dialog, which covers the menus. The status bar tells the two apart.
    """
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")


def menu(page: Page, name: str) -> list[str]:
    """Return what a menu offers."""
    page.get_by_role("menuitem", name=name, exact=True).click()
    items = page.locator(".lm-Menu .lm-Menu-itemLabel").filter(visible=True)
    expect(items.first).to_be_visible()
    found = list(filter(None, items.all_inner_texts()))
    page.keyboard.press("Escape")
    return found


def run_all(page: Page) -> None:
    """Run all cells of a notebook whose kernel is idle, and wait until the first one has begun."""
    before = page.locator(".jp-InputPrompt").all_inner_texts()

    def has_begun() -> bool:
        now = page.locator(".jp-InputPrompt").all_inner_texts()
        # A cell that is drawn only now has a prompt, too, and it is empty.
        return bool({prompt for prompt in now if prompt != "[ ]:"} - set(before))

    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
    until(has_begun, "a cell that runs")


def set_theme(page: Page, name: str) -> None:
    """Choose the theme "Light" or "Dark"."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel").filter(has_text="Theme").first.hover()
    page.locator('.lm-Menu-item[data-command="apputils:change-theme"]').filter(
        has_text=f"JupyterLab {name}"
    ).first.click()
    expect(page.locator(f'body[data-jp-theme-light="{str(name == "Light").lower()}"]')).to_be_attached()
    page.keyboard.press("Escape")
