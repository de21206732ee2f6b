"""The limit: the cells of a class in one warm process, with no boundary, no confinement and nothing written.

Run as a program it grades submission folders against a source folder and prints the seconds.
"""

import argparse
import contextlib
import io
import os
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


def grade_in_a_fork(source: nbformat.NotebookNode, submission: nbformat.NotebookNode) -> None:
    """The same in a copy of this process that ends with it: the least that keeps two students apart."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        grade(source, submission)
    finally:
        os._exit(0)


def main() -> None:
    """Prints the wall seconds of grading, without those of loading."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_process", description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("submissions", type=Path, nargs="+")
    parser.add_argument("--forked", action="store_true", help="each notebook in a fork of the process")
    chosen = parser.parse_args()
    sources = {path.name: nbformat.read(path, as_version=4) for path in chosen.source.glob("*.ipynb")}
    judge = grade_in_a_fork if chosen.forked else grade
    begin = time.perf_counter()
    for folder in chosen.submissions:
        for name, source in sources.items():
            judge(source, nbformat.read(folder / name, as_version=4))
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
