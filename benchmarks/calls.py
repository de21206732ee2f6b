"""python -m benchmarks.calls: what a test's call of student code costs across the boundary, beside one process."""

import json
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from course.grading import warm  # noqa: F401  (loads what the fork server loads)
from course.grading.cells import execute
from course.grading.grade import grade
from course.grading.limits import Limits

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
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(times):
            act()
        found.append((time.perf_counter() - begin) / times * 1e3)
    return min(found)

def both_ways():
    model(x).sum().backward()

x, model = torch.randn(4, 8), Net()
found = {"a function of a tensor, (4, 8)": milliseconds(lambda: double(x))}
with torch.no_grad():
    found["a module of four linear layers, no gradients"] = milliseconds(lambda: model(x))
found["the same with gradients, forward only"] = milliseconds(lambda: model(x))
found["the same, forward and backward"] = milliseconds(both_ways)
raise AssertionError(json.dumps(found))
"""


def in_one_process() -> dict[str, float]:
    """Milliseconds a call, by what is called, where test and student code share a process."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    execute(STUDENT, "student", namespace)
    try:
        execute(TEST, "test", namespace)
    except AssertionError as found:
        return json.loads(str(found))
    raise AssertionError("the test says what it found by failing")


def across() -> dict[str, float]:
    """The same between examiner and candidate, as in every grading; a visible test may say what it found."""
    marks = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, "points": 1}
    answer = new_code_cell(STUDENT, metadata={"nbgrader": {**marks, "grade_id": "net", "solution": True}})
    test = new_code_cell(TEST, metadata={"nbgrader": {**marks, "grade_id": "net-check", "grade": True, "locked": True}})
    notebook = new_notebook(cells=[answer, test])
    [result] = grade(notebook, notebook, Limits(cell_seconds=100, notebook_seconds=300)).results
    return json.JSONDecoder().raw_decode(result.message)[0]


def table() -> str:
    """The section of the results."""
    one, two = in_one_process(), across()
    rows = [f"| {what} | {one[what]:.3f} | {two[what]:.3f} | {two[what] - one[what]:.3f} |" for what in one]
    return "\n".join([
        HEADING, "", "The best of 40 rounds of 100 calls each: some are slowed down by what else the machine does.", "",
        "| milliseconds a call | in one process | across the boundary | more |", "|---|--:|--:|--:|", *rows, "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(table())
