"""Compares the start of a course that does not use torch with that of one that does: `--only without_torch`.

a notebook of two cells --a fresh process, with and without torch in turn--> seconds to its report, size of the server
"""

import json
import statistics
import subprocess
import sys
import time

import psutil
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine.grading import grade

HEADING = "## A course without torch"
ROUNDS = 5
COURSES = {"a course that does not use torch": "", "the same with `import torch`": "import torch\n"}


def notebook(imports: str) -> NotebookNode:
    """Return a notebook with an answer and its test.

    Args:
        imports: the first lines of the answer.
    """
    marks = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, "points": 1}
    answer = f"{imports}def double(x):\n    return 2 * x"
    test = {**marks, "grade_id": "double-check", "grade": True, "locked": True}
    return new_notebook(
        cells=[
            new_code_cell(answer, metadata={"nbgrader": {**marks, "grade_id": "double", "solution": True}}),
            new_code_cell("assert double(3) == 6", metadata={"nbgrader": test}),
        ]
    )


def here(imports: str) -> tuple[float, float]:
    """Return the seconds until the first report of this process, and the MiB of memory of its fork server."""
    source = notebook(imports)
    begin = time.perf_counter()
    [result] = grade(source, source).results
    seconds = time.perf_counter() - begin
    assert result.points == 1, result.message
    [server] = [
        each for each in psutil.Process().children() if "multiprocessing.forkserver" in " ".join(each.cmdline())
    ]
    return seconds, server.memory_info().rss / 2**20


def measured(imports: str) -> tuple[float, float]:
    """Return the same for a fresh process."""
    command = [sys.executable, "-m", "benchmarks.without_torch", imports]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, size = json.loads(done.stdout)
    return seconds, size


def table() -> str:
    """Return the part of the results, as Markdown."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in COURSES}
    for _ in range(ROUNDS):
        for name, imports in COURSES.items():
            runs[name].append(measured(imports))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in runs.items()}
    return "\n".join([
        HEADING, "",
        f"Medians of {ROUNDS} runs each, in turn: from the first call of the grader to the report on a notebook of two "
        "cells, and the memory of the process from which all others are forked.", "",
        "| | seconds | MiB |", "|---|--:|--:|",
        *(f"| {name} | {seconds:.2f} | {size:.0f} |" for name, (seconds, size) in medians.items()), "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(here(*sys.argv[1:])) if sys.argv[1:] else table())
