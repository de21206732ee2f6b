"""A candidate that answers what no honest one does, from some time on."""

import pytest
from notebooks import answer, check, helpers, notebook

from attacks.build import LIMITS, RELEASED, RIGHT_DOUBLE, SOURCE, WRONG_SCALE, answered, appended, wire
from course.grading.failure import bounded, describe
from course.grading.grade import grade
from course.grading.limits import Limits
from course.grading.notebook import with_answer
from course.grading.report import Verdict

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
    {**_DONE, "done": {"dict": [["Scale", {"says": {**_MODULE, "modules": [["a.b", 0, "x", "init", 3]]}}]]}},
    *({**_DONE, "done": done} for done in ({"dict": [[[], 1]]}, {"dict": [[5]]}, {"tensor": 99}, {"tuple": 5}, [[[]]])),
    {**_DONE, "done": {"dict": [["Scale", 5], ["torch", True], ["m", 0]]}},
    *({**_DONE, "done": 1, key: odd} for key in _DONE for odd in (5, {"dict": [["written", 5]]})),
    *(
        {**_DONE, "done": 1, "effects": {"dict": [["states", {"dict": [[0, {"dict": [["anatomy", odd]]}]]}]]}}
        for odd in (5, {"dict": []}, {"dict": [["modules", [["a", 0, "x", "y", True]]]]})
    ),
    *({**_DONE, "done": 1, "grown": odd} for odd in (5, [5], [[0, ["weight"]]], [[{}, 3]])),
    *(
        {**_DONE, "done": 1, "effects": {"dict": [["gradients", [odd]]]}}
        for odd in (5, {"tuple": [0, 5]}, {"tuple": [99, None]}, {"tuple": ["x", {"dict": []}]})
    ),
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


def test_of_an_error_no_more_is_kept_than_an_honest_candidate_says() -> None:
    """An examiner remembers errors: what else a candidate puts beside one, or how long it makes it, is let go."""
    long = {"kind": "k" * 10**6, "name": "n" * 10**6, "message": "m" * 10**6, "frames": [["<c>", 1, "x" * 10**6]] * 99}
    kept = bounded(long | {"junk": [[0] * 10**6], "frames": [5, *long["frames"]]})
    assert kept.keys() == describe(ValueError()).keys() and len(repr(kept)) < 10_000
    try:
        exec(compile("1 / 0", "<cell>", "exec"))
    except ZeroDivisionError as error:
        assert bounded(describe(error)) == describe(error)


def test_no_place_outside_the_answer_is_named_for_a_hidden_test() -> None:
    """Which of many cells is named, or which builtin, would tell numbers of the test."""
    said = {"kind": "copyright", "name": "x", "message": "", "frames": [["<cell 9>", 1, ""]]}
    forged = wire(f"service.answer = lambda request, packed: ({{'raised': {said!r}}}, [])")
    report = grade(SOURCE, appended(answered(RELEASED, RIGHT_DOUBLE, WRONG_SCALE + forged), "'one more'"))
    messages = [result.message for result in report.results if "test" in result.name and not result.points]
    assert messages and all("raised an error." in message and "cell 9" not in message for message in messages)


def test_one_tensor_under_many_names_uses_up_no_memory_but_its_own() -> None:
    """It is sent once, and a twin would hold it under every name: the test runs out of memory, the machine does not."""
    names = [[f"part{number}", True, {"tensor": 0}] for number in range(30)]
    module = {**_MODULE, "modules": [["", 0, "m", "Module", False, []]], "aliases": [], "parameters": []}
    module |= {"gradients": [], "buffers": names}
    said = {"leaves": {}, "done": {"dict": [["f", {"says": module}]]}, "differentiable": []}
    forged = wire(f"large = torch.zeros(50 * 2**20)\nservice.answer = lambda request, packed: ({said!r}, [large])")
    source = notebook(helpers("imports", "import torch"), answer("f", "f = 1"), check("f-check", "f"))
    [result] = grade(source, with_answer(source, "f", forged)).results
    assert result.verdict is Verdict.OUT_OF_MEMORY
