"""A candidate that answers what no honest one does, from some time on."""

import pytest

from attacks.build import LIMITS, RELEASED, RIGHT_DOUBLE, SOURCE, WRONG_SCALE, answered, appended, wire
from course.grading.grade import grade
from course.grading.limits import Limits

_MODULE = {"remote": 7, "kind": "module", "name": "m"}
_DONE = {"leaves": {}, "effects": {"dict": []}, "differentiable": []}
ODD_ANSWERS = (
    *(5, None, [], {}, "x", {"done": 3}, {"done": None}, {"raised": 5}, {"raised": []}, {"raised": {}}),
    {"raised": {"kind": "ValueError", "name": 3, "message": {}, "frames": [5]}},
    {"raised": {"kind": "ValueError", "name": "x", "message": "x", "frames": [[1], [2, 3, 4]]}},
    {"raised": {"kind": "__import__", "frames": 5}},
    {"raised": {"kind": ["x"], "frames": [[[], {}, None]]}},
    {"raised": {"kind": "ExceptionGroup", "message": "x", "frames": None}},
    {"raised": {"kind": "StopIteration", "message": "x", "examiner": 10**9}},
    *({**_DONE, "done": {"says": said}} for said in (5, {}, _MODULE, {"remote": -1}, {"remote": True, "name": []})),
    {**_DONE, "done": {"says": {**_MODULE, "modules": 5, "parameters": 5, "buffers": 5}}},
    {**_DONE, "done": {"dict": [["Scale", {"says": {**_MODULE, "modules": [["a.b", "x", "init", 3]]}}]]}},
    *({**_DONE, "done": done} for done in ({"dict": [[[], 1]]}, {"dict": [[5]]}, {"tensor": 99}, {"tuple": 5}, [[[]]])),
    {**_DONE, "done": {"dict": [["Scale", 5], ["torch", True], ["m", 0]]}},
    *({**_DONE, "done": 1, key: odd} for key in _DONE for odd in (5, {"dict": [["written", 5]]})),
    *({"back": 0}, {"back": "x", "call": 5}, {"back": True, "call": {"tuple": []}}),
    {"done": {"outputs": [5], "raised": None}},
    {"done": {"outputs": [{"output_type": "stream"}, {"data": 5}], "raised": {"frames": [5]}}},
    {"done": {"outputs": [], "raised": {"name": [], "message": {}, "frames": [[1, 2]]}}},
)
"""What no honest candidate answers."""


@pytest.mark.parametrize("answer", ODD_ANSWERS, ids=range(len(ODD_ANSWERS)))
def test_an_answer_of_any_shape_is_the_verdict_on_one_exercise(answer: object) -> None:
    """Whatever the candidate answers from some time on, the examiner goes on and keeps what was earned before."""
    forged = wire(f"service.answer = lambda request, packed: ({answer!r}, [])")
    limits = Limits(cell_seconds=LIMITS["cell_seconds"], notebook_seconds=LIMITS["notebook_seconds"])
    report = grade(SOURCE, appended(answered(RELEASED, RIGHT_DOUBLE, WRONG_SCALE + forged), "'one more'"), limits)
    assert [result.points for result in report.results] == [1, 2, 2, 0, 0, 0]
