"""One hub for all tests of this folder, with a browser in which two students and an instructor are logged in."""

from collections.abc import Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.hub.formgrader import Formgrader
from tests.hub.lab import Lab
from tests.hub.machine import PASSWORD, URL, Machine
from tests.support.small_class import SOURCE, make_course
from tests.support.waiting import HANGS

EXCHANGED = "02-exchanged"
"""An assignment that is not released when the hub starts."""


@pytest.fixture(scope="package")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Start the hub with a small course."""
    folder = tmp_path_factory.mktemp("hub")
    course = make_course(folder / "course")
    (course / "source" / EXCHANGED).mkdir()
    nbformat.write(SOURCE, course / "source" / EXCHANGED / "small.ipynb")

    machine = Machine(course, folder / "hub.log")
    try:
        yield machine
    finally:
        machine.stop()


@pytest.fixture(scope="package")
def browser(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start a browser that reaches only the machine with the hub."""
    program = machine.browser(tmp_path_factory.mktemp("browser"))
    expect.set_options(timeout=HANGS * 1000)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])


@pytest.fixture(scope="package")
def labs(browser: Browser) -> dict[str, Lab]:
    """Log all users in at once: their servers start side by side."""
    return {user: Lab(browser, URL, user, PASSWORD) for user in ("ada", "bob", "prof")}


@pytest.fixture(scope="package")
def formgrader(labs: dict[str, Lab]) -> Formgrader:
    """Open the formgrader from the menu of the instructor's JupyterLab."""
    prof = labs["prof"]
    with prof.page.expect_popup() as tab:
        prof.menu("Nbgrader").filter(has_text="Formgrader").click()
    return Formgrader(tab.value)
