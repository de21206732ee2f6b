"""Measures the limit: the cells of a class in one warm process, without a boundary, confinement or written results.

As a program, it grades submission folders by a source folder and prints the seconds.
"""

import argparse
import contextlib
import io
import os
import time
from pathlib import Path
from typing import Any

import nbformat

import course.data
import course.figures  # noqa: F401  (the notebooks import these; loading them is not measured)
from grader.engine.notebook.plan import plan
from grader.engine.notebook.repair import repair
from grader.engine.sandbox.shell import execute
from grader.engine.supervisor import preload  # noqa: F401  (loads what the fork server loads)


def grade(source: nbformat.NotebookNode, submission: nbformat.NotebookNode) -> int:
    """Return the number of tests that a submission passed."""
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
    """Grade in a fork of this process, the minimum needed to isolate two students from each other."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        grade(source, submission)
    finally:
        os._exit(0)


def main() -> None:
    """Print the wall seconds of grading, without those of loading."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_process", description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("submissions", type=Path, nargs="+")
    parser.add_argument("--forked", action="store_true", help="each notebook in a fork of the process")
    chosen = parser.parse_args()
    sources = {path.name: nbformat.read(path, as_version=4) for path in chosen.source.glob("*.ipynb")}
    grade_one = grade_in_a_fork if chosen.forked else grade
    begin = time.perf_counter()
    for folder in chosen.submissions:
        for name, source in sources.items():
            grade_one(source, nbformat.read(folder / name, as_version=4))
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
