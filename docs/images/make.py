"""Takes the pictures of the documentation, on a hub with assignment 04: python -m docs.images.make, as root.

answer without the tanh --> check-fails.png, report-in-notebook.png        answer mended --> check-passes.png
"""

import shutil
import tempfile
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, expect, sync_playwright

from grader.engine.notebook.cells import grade_id
from tests.hub.lab import Lab
from tests.hub.machine import PASSWORD, URL, Machine
from tests.support.paths import REPOSITORY

NOTEBOOK = "04-attention/1-vanilla-attention.ipynb"
RIGHT, WRONG = (
    "torch.tanh(self.fc_query(query) + self.fc_value(context))",
    "self.fc_query(query) + self.fc_value(context)",
)
WINDOW = {"width": 960, "height": 640}


def main() -> None:
    """Start the hub, log in as a student and take the pictures."""
    folder = Path(tempfile.mkdtemp())
    course = folder / "course"
    for part in ("source", "release"):
        shutil.copytree((REPOSITORY / part / NOTEBOOK).parent, course / part / "04-attention")
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    machine = Machine(course, folder / "hub.log")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=machine.browser(folder), args=["--no-sandbox"])
            take(Lab(browser, URL, "ada", PASSWORD))
    finally:
        machine.stop()
        shutil.rmtree(folder)


def take(lab: Lab) -> None:
    """Work on the notebook as a student does, and take a picture of what the student sees."""
    lab.open(NOTEBOOK)
    lab.page.get_by_role("button", name="No", exact=True).click()
    lab.page.keyboard.press("Control+B")
    lab.page.set_viewport_size(WINDOW)
    lab.run(lab.cell("import math"))
    picture(lab, check(lab, solution().replace(RIGHT, WRONG), "✗ vanilla-attention"), "check-fails")
    lab.save()
    last = lab.cell("hand_in()")
    lab.run(last)
    picture(lab, lab.press(last), "report-in-notebook")
    picture(lab, check(lab, solution(), "✓ vanilla-attention"), "check-passes")


def check(lab: Lab, answer: str, verdict: str) -> Locator:
    """Write and run an answer, and its check, whose code stays hidden; return the check's output."""
    cell = lab.cell("class VanillaAttention")
    lab.write(cell, answer)
    lab.run(cell)
    output = lab.start(lab.cell("# Check of vanilla-attention"))
    expect(output).to_contain_text(verdict)
    return output


def picture(lab: Lab, output: Locator, name: str) -> None:
    """Take a picture with an output at the bottom of the window."""
    lab.page.mouse.move(0, 0)
    lab.page.wait_for_timeout(500)  # until the output has its full height
    output.evaluate("output => output.scrollIntoView({block: 'end'})")
    lab.page.screenshot(path=Path(__file__).with_name(f"{name}.png"))


def solution() -> str:
    """Return the reference solution of vanilla attention."""
    cells = nbformat.read(REPOSITORY / "source" / NOTEBOOK, as_version=4).cells
    [source] = [cell.source for cell in cells if grade_id(cell) == "vanilla-attention"]
    assert RIGHT in source
    return "\n".join(line for line in source.splitlines() if "### " not in line)


if __name__ == "__main__":
    main()
