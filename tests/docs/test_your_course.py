"""The commands of packages/grader/docs/your-course.md work in their order, on the course that nbgrader itself makes."""

import os
import re
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.paths import GRADER

pytestmark = pytest.mark.slow

PAGE = (GRADER / "docs/your-course.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(folder: Path, command: str) -> str:
    """Run a line of the page in a folder, and return what it printed; fail if it fails."""
    own = {"JUPYTER_CONFIG_DIR": str(folder / ".jupyter"), "JUPYTER_DATA_DIR": str(folder / ".data")}
    program, *arguments = command.split()
    if program in ("mkdir", "cp"):
        assert os.system(f"cd {folder} && {command}") == 0
        return ""
    done = warm.run([program, *arguments], folder, {**os.environ, **own})
    assert done.returncode == 0, (command, done.stdout + done.stderr)
    return done.stdout + done.stderr


def test_a_class_is_graded_by_the_commands_of_the_page(tmp_path):
    """The blank has no points, our own solution all of the tests, and the written parts wait for a person."""
    blocks = BLOCK.findall(PAGE)
    [(_, configuration)] = [block for block in blocks if block[0] == "python"]
    folder, printed = tmp_path, {}
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    assert len(lines) == 10
    for line in lines:
        if line.startswith("cd "):
            folder = folder / line.removeprefix("cd ")
            with (folder / "nbgrader_config.py").open("a") as file:
                file.write(f"\n{configuration}")
        elif not line.startswith("pip "):
            printed[line] = run(folder, line)
    rows = {row.split()[1]: row for row in printed["grader grade ps1"].splitlines() if "/" in row}
    assert re.search(r"\b0 / 5\b.*\b0 / 8\b.*wait for marking", rows["ana"])
    assert re.search(r"\b3 / 5\b.*\b0 / 8\b.*wait for marking", rows["ben"])
    assert len(list(folder.glob("feedback/*/ps1/*.html"))) >= 4
