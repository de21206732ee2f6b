"""Compares a test's call of student code across the boundary and in one process: `python -m benchmarks.calls`."""

import json
import subprocess
import sys
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.sandbox.shell import execute

HEADING = "## A call across the boundary"
STUDENT = """
import torch
from torch import nn

def double(x):
    return 2 * x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        return self.layers(x)
"""
TEST = """
import json, time
import torch

def milliseconds(act, rounds=40, times=100):
    times_of_rounds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(times):
            act()
        times_of_rounds.append((time.perf_counter() - begin) / times * 1e3)
    return min(times_of_rounds)

def both_ways():
    model(x).sum().backward()

x, model = torch.randn(4, 8), Net()
measured = {"a function of a tensor, (4, 8)": milliseconds(lambda: double(x))}
with torch.no_grad():
    measured["a module of four linear layers, no gradients"] = milliseconds(lambda: model(x))
measured["the same with gradients, forward only"] = milliseconds(lambda: model(x))
measured["the same, forward and backward"] = milliseconds(both_ways)
raise AssertionError(json.dumps(measured))
"""


def in_one_process() -> dict[str, float]:
    """Return the milliseconds of each kind of call, with test and student code in one process.

    It is a process of its own: one that has loaded what the fork server loads can start no threads.
    """
    command = [sys.executable, "-m", "benchmarks.calls", "here"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def here() -> dict[str, float]:
    """Return the same, measured in this process."""
    from grader.engine.supervisor import preload  # noqa: F401

    namespace: dict[str, Any] = {"__name__": "__main__"}
    execute(STUDENT, "student", namespace)
    try:
        execute(TEST, "test", namespace)
    except AssertionError as measured:
        return json.loads(str(measured))
    raise AssertionError("the test reports its measurements by failing")


def across() -> dict[str, float]:
    """Return the same between runner and sandbox, as in every grading; a visible test may report its measurements."""
    marks = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, "points": 1}
    answer = new_code_cell(STUDENT, metadata={"nbgrader": {**marks, "grade_id": "net", "solution": True}})
    test = new_code_cell(TEST, metadata={"nbgrader": {**marks, "grade_id": "net-check", "grade": True, "locked": True}})
    notebook = new_notebook(cells=[answer, test])
    [result] = grade(notebook, notebook, Limits(cell_seconds=100, notebook_seconds=300)).results
    return json.JSONDecoder().raw_decode(result.message)[0]


def table() -> str:
    """Return the section of the results."""
    one, two = in_one_process(), across()
    rows = [f"| {call} | {one[call]:.3f} | {two[call]:.3f} | {two[call] - one[call]:.3f} |" for call in one]
    return "\n".join([
        HEADING, "", "The best of 40 rounds of 100 calls each: other work of the machine slows some rounds down.", "",
        "| milliseconds a call | in one process | across the boundary | more |", "|---|--:|--:|--:|", *rows, "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(here()) if sys.argv[1:] == ["here"] else table())
