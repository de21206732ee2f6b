"""With the command of CONTRIBUTING.md, `git diff` shows a changed word of a notebook and little else."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

NOTEBOOK = "source/04-attention/1-vanilla-attention.ipynb"
(COMMAND,) = re.findall(r"^git config .+$", (REPOSITORY / "CONTRIBUTING.md").read_text(), re.MULTILINE)
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def run(command: str, folder: Path) -> str:
    """Return the output of a shell command in a folder."""
    done = subprocess.run(
        command, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=HANGS
    )
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a notebook, in which one word of prose, every output and every count have changed since."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    shutil.copy(REPOSITORY / ".gitattributes", tmp_path)
    shutil.copy(REPOSITORY / NOTEBOOK, tmp_path / "a.ipynb")
    run("git init --quiet && git add a.ipynb .gitattributes", tmp_path)
    run("git -c user.name=a -c user.email=a@b.example commit --quiet --message=a", tmp_path)
    notebook = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    notebook.cells[0].source = notebook.cells[0].source.replace("river", "lake", 1)
    for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count, cell.outputs = number + 70, []
    nbformat.write(notebook, tmp_path / "a.ipynb")
    return tmp_path


def test_a_changed_word_is_a_short_diff(clone: Path) -> None:
    """Neither outputs nor counts are in it. Without the command, they fill hundreds of lines."""
    assert len(run("git diff", clone).splitlines()) > 200
    run(COMMAND, clone)
    lines = run("git diff", clone).splitlines()
    assert len(lines) < 20
    assert all(any(f"by the {word} bank" in line for line in lines) for word in ("river", "lake"))
