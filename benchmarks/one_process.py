"""The limit: the cells of a class in one warm process, with no boundary, no confinement and nothing written.

Run as a program it grades `argv[2:]` (submission folders) against the source folder `argv[1]` and prints the seconds.
"""

import contextlib
import io
import sys
import time
from pathlib import Path
from typing import Any

import nbformat

from course.grading import warm  # noqa: F401  (loads what the fork server loads)
from course.grading.cells import execute
from course.grading.plan import plan
from course.grading.repair import repair


def grade(source: nbformat.NotebookNode, submission: nbformat.NotebookNode) -> int:
    """How many tests of a submission passed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    passed = 0
    for step in plan(repair(source, submission).notebook):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                execute(step.source, step.name, namespace)
            passed += step.points > 0
        except Exception:
            continue
    return passed


def main() -> None:
    """Prints the wall seconds of grading, without those of loading."""
    sources = {path.name: nbformat.read(path, as_version=4) for path in Path(sys.argv[1]).glob("*.ipynb")}
    begin = time.perf_counter()
    for folder in sys.argv[2:]:
        for name, source in sources.items():
            grade(source, nbformat.read(Path(folder) / name, as_version=4))
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
