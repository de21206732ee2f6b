"""A course in plain Python with a class of five, and an environment in which torch is not installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook, text

ASSIGNMENT = "01-plain"
ANSWER = "def largest(numbers):\n    ### BEGIN SOLUTION\n    return max(numbers)\n    ### END SOLUTION"
SOURCE = notebook(
    text("# Numbers"),
    helpers("imports", "import math\nimport random"),
    answer("largest", ANSWER),
    check("largest-check", "assert largest([1, 2]) == 2, 'the largest of 1 and 2 is 2'"),
    hidden(
        "largest-test-any",
        "It finds the largest of any numbers.",
        "numbers = [random.gauss(-9, 1) for _ in range(9)]\n"
        "assert math.isclose(largest(numbers), sorted(numbers)[-1]), 'not the largest of nine numbers below zero'\n"
        "assert largest(('a', 'b')) == 'b', 'letters have an order, too'",
        points=2,
    ),
)
HANDED_IN = {
    "ann": ("def largest(numbers):\n    return max(numbers)", 3.0),
    "bob": ("def largest(numbers):\n    return max(0, *numbers)", 1.0),
    "cat": ("def largest(numbers):\n    return numbers[-1]", 1.0),
    "dan": ("def largest(numbers):\n    raise NotImplementedError", 0.0),
    "eve": ("def largest(numbers):\n    import torch\n    return torch.tensor(numbers).max()", 0.0),
}
"""Answers, and the points of each; the last one needs torch, which no test expects."""
NEEDS_TORCH = ("torch", "torchgen", "functorch", "einops")


def make(folder: Path) -> Path:
    """Make the course folder with its source and what the students handed in, and return it."""
    folder.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(
        "from grader import nbgrader_plugin\nc = get_config()\nnbgrader_plugin.configure(c)\n"
        "c.CourseDirectory.course_id = 'plain'\n"
    )
    write(SOURCE, folder / "source" / ASSIGNMENT)
    for student, (said, _) in HANDED_IN.items():
        write(answered(SOURCE, largest=said), folder / "submitted" / student / ASSIGNMENT)
    return folder


def write(content: NotebookNode, folder: Path) -> None:
    """Write a notebook of the assignment."""
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, folder / "plain.ipynb")


def environment_without_torch(folder: Path) -> Path:
    """Make a virtual environment with everything that is installed here but torch, and return its programs' folder."""
    venv.create(folder, with_pip=False, symlinks=True)
    here = Path(sysconfig.get_path("purelib"))
    there = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    # No symbolic links: a sandbox may read the libraries of its own environment only.
    shutil.copytree(here, there, ignore=_torch_in(here), copy_function=_linked, dirs_exist_ok=True)
    shutil.copytree(Path(sys.prefix, "share/jupyter"), folder / "share/jupyter", copy_function=_linked)
    programs = folder / "bin"
    for name in ("grader", "nbgrader"):
        first, _, rest = Path(sys.executable).with_name(name).read_text().partition("\n")
        assert first.startswith("#!")
        (programs / name).write_text(f"#!{programs / 'python'}\n{rest}")
        (programs / name).chmod(0o755)
    assert shutil.which("grader", path=str(programs))
    missing = subprocess.run([programs / "python", "-c", "import torch"], capture_output=True, text=True)
    assert "No module named 'torch'" in missing.stderr, missing.stderr
    return programs


def _torch_in(here: Path) -> Callable[[str, list[str]], list[str]]:
    return lambda folder, names: [name for name in names if folder == str(here) and name.startswith(NEEDS_TORCH)]


def _linked(here: str, there: str) -> None:
    try:
        os.link(here, there)
    except OSError:  # another file system
        shutil.copy2(here, there)


def run(programs: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of an environment in a folder."""
    return subprocess.run(
        [programs / command[0], *command[1:]], cwd=folder, capture_output=True, text=True, timeout=300
    )


INSTALLED = Path(sys.executable).parent
"""The programs of this environment."""
