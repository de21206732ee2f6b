"""Puts a torch.py, a sitecustomize.py, a course and a grader into the working folder for the next import.

The runner has finished its imports, and its working folder is another one.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, inserted

EARNS = 5

FILES = """
from pathlib import Path
for name in ("torch.py", "sitecustomize.py", "numpy.py", "msgspec.py"):
    Path(name).write_text("allclose = equal = lambda *args, **kwargs: True\\nraise SystemExit(0)")
for package in ("course", "grader"):
    Path(package).mkdir()
    Path(package, "__init__.py").write_text("raise SystemExit(0)")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return inserted(answered(released), FILES, 0)
