"""Answers with JSON of every shape that no honest answer has: numbers, lists, wrong keys, odd frames, false modules.

Each is the verdict on one test; the examiner goes on, and what was earned before stays earned.
"""

from attacks.build import RIGHT_DOUBLE, WRONG_SCALE, answered, appended, wire
from nbformat import NotebookNode

EARNS = 5

WRONG = wire("""
import itertools
module = {"remote": 7, "kind": "module", "name": "m"}
answers = itertools.cycle([
    5, None, [], {}, "x", {"done": 3}, {"done": None}, {"raised": 5}, {"raised": []},
    {"raised": {"kind": "ValueError", "name": 3, "message": {}, "frames": [5]}},
    {"raised": {"kind": "ValueError", "name": "x", "message": "x", "frames": [[1], [2, 3, 4]]}},
    {"raised": {"kind": "__import__", "frames": 5}}, {"raised": {"kind": ["x"], "frames": [[[], {}, None]]}},
    {"raised": {"kind": "ExceptionGroup", "message": "x", "frames": None}},
    {"done": {"says": module}}, {"done": {"says": {**module, "modules": 5, "parameters": 5, "buffers": 5}}},
    {"done": {"dict": [["Scale", {"says": {**module, "modules": [["a.b", "x", 3]], "parameters": []}}]]}},
    {"done": {"dict": [[[], 1]]}}, {"done": {"tensor": 99}}, {"done": {"says": 5}}, {"done": {"says": {"remote": -1}}},
    {"done": [], "effects": {}, "differentiable": 5}, {"done": [], "effects": {"dict": []}, "differentiable": [9]},
    {"back": 0}, {"back": "x", "call": 5}, {"back": True, "call": {"tuple": []}}, {"done": {"outputs": [5]}},
    {"done": {"outputs": [{"output_type": "stream"}, {"data": 5}], "raised": {"frames": [5]}}},
    {"done": {"outputs": 5, "raised": {"name": [], "message": {}, "frames": 5}}},
])
service.answer = lambda request, packed: (next(answers), [])
""")


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released, RIGHT_DOUBLE, WRONG_SCALE + WRONG)
    for _ in range(5):
        hostile = appended(hostile, "'another cell'")
    return hostile
