"""Puts a torch.py, a sitecustomize.py and a course package into the working folder, for whoever imports next.

The examiner has imported before, and its working folder is another.
"""

from attacks.build import answered, inserted
from nbformat import NotebookNode

EARNS = 5

FILES = """
from pathlib import Path
for name in ("torch.py", "sitecustomize.py", "numpy.py", "notebooks.py"):
    Path(name).write_text("allclose = equal = lambda *args, **kwargs: True\\nraise SystemExit(0)")
Path("course").mkdir()
Path("course/__init__.py").write_text("raise SystemExit(0)")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return inserted(answered(released), FILES, 0)
