"""Makes classes to grade: copies of the example submissions with small edits, in a course folder of their own."""

import ast
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from examples.make_class import make_class
from grader.engine.notebook.cells import CellType, type_of

REPOSITORY = Path(__file__).parents[1]
ASSIGNMENT = "04-attention"
# Students with ordinary submissions; the endless loops and attacks of examples/ have tests of their own.
STUDENTS = ("ada", "ben", "chen", "dora", "emil", "fay", "jana")
STOCK_CONFIG = """from pathlib import Path
c = get_config()
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "misconceptions", "survivors"]
c.ClearMarkScheme.enforce_metadata = False
c.Execute.timeout = 120
"""
PROGRAMS = Path(sys.executable).parent


def environment(**more: str) -> dict[str, str]:
    """Return an activated environment with `more` variables: nbgrader calls the program `alembic` by its name."""
    return {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", **more}


def make(folder: Path, size: int, *, stock: bool = False, strangers: bool = False) -> Path:
    """Make a course folder with different submissions, and return it.

    Args:
        folder: where; what is there is removed.
        size: the number of submissions.
        stock: whether nbgrader alone is to grade them.
        strangers: whether no two students answer a test alike, so that no cache of the grader is of use.
    """
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "source").mkdir(parents=True)
    shutil.copytree(REPOSITORY / "source" / ASSIGNMENT, folder / "source" / ASSIGNMENT)
    config = folder / "nbgrader_config.py"
    config.write_text(STOCK_CONFIG if stock else (REPOSITORY / "nbgrader_config.py").read_text())
    with TemporaryDirectory() as examples:
        make_class(REPOSITORY / "release" / ASSIGNMENT, Path(examples))
        for number in range(size):
            _hand_in(folder, number, strangers, Path(examples))
    return folder


def _hand_in(folder: Path, number: int, strangers: bool, examples: Path) -> None:
    example = examples / STUDENTS[number % len(STUDENTS)] / ASSIGNMENT
    submitted = folder / "submitted" / f"student{number:05}" / ASSIGNMENT
    submitted.mkdir(parents=True)
    for notebook in example.glob("*.ipynb"):
        (submitted / notebook.name).write_text(_edited(notebook.read_text(), number, strangers))


def _edited(text: str, number: int, strangers: bool) -> str:
    """Return the notebook with a comment in every answer, so that no two texts are the same.

    The functions and classes of strangers have different names, too, and every test sees them in the first reply.
    """
    notebook = nbformat.reads(text, nbformat.NO_CONVERT)
    for cell in notebook.cells:
        if type_of(cell) is not CellType.AUTOGRADED_ANSWER or "raise NotImplementedError" in cell.source:
            continue  # a blank stays as it was released
        lines = [cell.source, f"# {number}"]
        if strangers:
            body = ast.parse(cell.source).body
            names = [part.name for part in body if isinstance(part, ast.FunctionDef | ast.ClassDef)]
            lines += [f'{name}.__name__ = "{name}{number}"' for name in names]
        cell.source = "\n".join(lines)
    return nbformat.writes(notebook) + "\n"
