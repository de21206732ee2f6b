"""A test sees the names of its exercise as they were at the check, whatever a student binds them to below it."""

import random

import pytest
from nbformat import NotebookNode

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

pytestmark = pytest.mark.slow

TWICE = "FACTOR = 2\n\ndef helper(x):\n    return FACTOR * x\n\ndef twice(x):\n    return helper(x)"
LAYER = (
    "class Layer(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
    "        self.weight = nn.Parameter(torch.ones(d))\n\n    def forward(self, x):\n        return x * self.weight"
)
SOURCE = notebook(
    helpers("imports", "import torch\nfrom torch import nn"),
    answer("twice", TWICE),
    check("twice-check", "assert twice(1) == 2, 'not 2'"),
    hidden("twice-test-tensor", "twice(x) works for tensors.", "assert twice(torch.ones(2)).tolist() == [2, 2]", 2),
    answer("layer", LAYER),
    check("layer-check", "assert Layer(2)(torch.ones(2)).sum() == 2"),
    hidden("layer-test-wide", "Layer has d weights.", "assert Layer(3).weight.shape == (3,)", 2),
    answer("both", "def both(x, d=2):\n    return twice(Layer(d)(x))"),
    check("both-check", "assert both(torch.ones(2)).tolist() == [2, 2]"),
    hidden("both-test-wide", "both works for any width.", "assert both(torch.ones(3), 3).tolist() == [2, 2, 2]", 2),
)
BELOW = {"imports": "imports", "twice": "twice-check", "layer": "layer-check", "both": "both-check"}
REBINDING = [
    ("imports", "twice = helper = FACTOR = Layer = both = None"),  # above the answer
    ("twice", "def twice(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"),  # a copy of the blank
    ("twice", "twice = nn.Linear(2, 3)\ntwice(torch.randn(4, 2))"),
    ("twice", "FACTOR += 1"),
    ("both", "torch = nn = None"),
    ("twice", "twice, helper = helper, twice"),
    ("twice", "globals().update(twice=1, helper=2)"),
    ("twice", "def play():\n    global twice\n    twice = 1\nplay()"),
    ("twice", "import functools\ntwice = functools.partial(twice, 3)"),
    ("twice", "import functools\n@functools.wraps(twice)\ndef other(x):\n    return 0\ntwice = other"),
    ("twice", "try:\n    1 / 0\nexcept ZeroDivisionError as twice:\n    pass"),
    ("twice", "twice = twice(3)\ntwice = twice + twice\nraise KeyError"),
    ("layer", "Layer = Layer(4)"),
    ("layer", "Layer = nn.Identity"),
    ("layer", "[Layer, twice] = 1, 2"),
    ("both", "both = both(torch.ones(2))"),
]


def with_cell(source: NotebookNode, below: str, *cells: str) -> NotebookNode:
    """The notebook with cells of the student's own below the cell `below`."""
    found = list(source.cells)
    place = next(n for n, each in enumerate(found) if each.metadata.get("nbgrader", {}).get("grade_id") == below) + 1
    return notebook(*found[:place], *map(code, cells), *found[place:])


def graded(submission: NotebookNode, source: NotebookNode = SOURCE) -> Report:
    """The report on a submission; all cells and tests of it are short."""
    return grade(source, submission, Limits(cell_seconds=3))


def lost(report: Report) -> list[str]:
    """The tests that gave less than all points."""
    return [result.name for result in report.results if result.points < result.max_points]


DEFINITIONS = [
    "def twice(x):\n    return x + x",
    "import functools\n@functools.cache\ndef twice(x):\n    return x + x",
    "@torch.no_grad()\ndef twice(x):\n    return x + x",
    "def helper(x):\n    return x + x",
    "def twice(x):\n    return x + x\n\nkept = twice\nfor twice in range(3):\n    pass\ntwice = kept",
]
"""A student who saw a red check may write the function once more below it: hidden tests take that one."""
BLANKS = ["def twice(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", "", "def twice(x)\n    return 2"]
LATER = [
    ["def twice(x):\n    return x + x"],
    ["twice = lambda x: x + x"],
    ["def mine(x):\n    return x + x", "twice = mine"],
    ["def mine(x):\n    return x + x", "twice = None", "twice = mine"],
]
"""If the answer cell defines nothing, or the blank, whatever binds the name later is the answer."""
BETTER_LAYER = (
    "class Layer(Layer):\n    def __init__(self, d):\n        super().__init__(d)\n"
    "        self.weight = nn.Parameter(torch.ones(d))"
)
WRONG_TWICE = "def helper(x):\n    return x\n\ndef twice(x):\n    return helper(x)"
WRONG_LAYER = LAYER.replace("torch.ones(d)", "torch.ones(2)")
OF_TWICE = ["twice-check", "twice-test-tensor", "both-check", "both-test-wide"]
CASES = [
    *(({}, BELOW[exercise], [cell], []) for exercise, cell in REBINDING),
    *(({"twice": WRONG_TWICE}, "twice-check", [cell], ["twice-check"]) for cell in DEFINITIONS),
    *(({"twice": blank}, "twice-check", cells, ["twice-check"]) for blank in BLANKS for cells in LATER),
    ({"layer": WRONG_LAYER}, "layer-check", [], ["layer-test-wide"]),  # and both-test-wide is judged with our answer
    ({"layer": WRONG_LAYER}, "layer-check", [BETTER_LAYER], []),
    ({"layer": WRONG_LAYER}, "layer-check", [BETTER_LAYER, "Layer = Layer(3)"], []),
    pytest.param({}, "twice", ["twice = None"], OF_TWICE, marks=pytest.mark.slow),  # the check sees it
    ({"twice": WRONG_TWICE}, "twice", ["def twice(x):\n    return x + x"], []),
]


@pytest.mark.parametrize(("answers", "below", "cells", "losing"), CASES)
def test_a_name_that_is_bound_again_counts_above_its_check_and_as_a_definition(answers, below, cells, losing):
    """Below its check it costs nothing, neither its exercise nor those that build on it; a definition is an answer."""
    assert lost(graded(with_cell(answered(SOURCE, **answers), below, *cells))) == losing


def test_cells_of_the_student_go_on_with_their_own_names():
    """What a cell bound below a check is there for the next cell, before and after tests that do not see it."""
    cells = ["twice = twice(3)", "assert twice == 6\ntwice += 1"]
    submission = with_cell(SOURCE, "twice-check", *cells)
    submission = with_cell(submission, "layer-check", "seen = twice\nprint(seen)")
    report = graded(submission)
    assert lost(report) == []
    assert [output["text"] for outputs in report.outputs.values() for output in outputs if "text" in output] == ["7\n"]


def test_a_wrong_definition_below_the_check_is_the_answer_too():
    """It is the last one that the student wrote, and the message names its cell."""
    report = graded(with_cell(SOURCE, "twice-check", "def twice(x):\n    return x"))
    assert lost(report) == ["twice-test-tensor", "both-check", "both-test-wide"]
    result = next(result for result in report.results if result.name == "twice-test-tensor")
    assert [(again.name, again.cell, again.counts) for again in result.explanation.bound_again] == [
        ("twice", "cell 4", True)
    ]
    assert "`twice` is defined again in cell 4, below the check, and the test used that definition." in result.message


def test_a_later_answer_may_give_a_constant_of_an_earlier_one_another_value():
    """As in the notebook, its tests see the value that stands above its own check if its code mentions the name."""
    source = notebook(
        *SOURCE.cells[:4],
        answer("third", "def third(x):\n    return FACTOR * x"),
        check("third-check", "assert third(1) == FACTOR"),
        hidden("third-test-x", "3x.", "assert third(2) == 6"),
    )
    assert lost(graded(with_cell(source, "twice-test-tensor", "FACTOR = 3"), source)) == []


def test_names_are_right_after_the_loss_of_a_sandbox():
    """The cells run again in a fresh one, at the places that they had."""
    crash = "def both(x, d=2):\n    import os\n    os._exit(1)"
    submission = with_cell(answered(SOURCE, both=crash), "twice-check", "twice = twice(3)", "Layer = FACTOR = None")
    assert lost(graded(submission)) == ["both-check", "both-test-wide"]
    submission = with_cell(with_cell(SOURCE, "twice-check", "twice = None"), "layer-check", "import os\nos._exit(1)")
    assert lost(graded(submission)) == []


def test_a_cell_of_ours_may_bind_names_again():
    """In a notebook as we wrote it, a training run between a check and a test gives the test its result."""
    source = notebook(
        answer("start", "steps = 1\ndef step(n):\n    return n + 1"),
        check("start-check", "assert steps == 1"),
        code("steps = step(steps)"),
        helpers("more", "more = step(1)"),
        hidden("start-test-steps", "One step was made.", "assert steps == 2"),
    )
    assert lost(graded(source, source)) == []


def test_an_exercise_without_a_check_keeps_the_names_of_its_first_test():
    """Below that, they are protected."""
    source = notebook(
        answer("one", "def one():\n    return 1"),
        hidden("one-test-first", "one() is 1.", "assert one() == 1"),
        hidden("one-test-second", "one() is an int.", "assert isinstance(one(), int)"),
    )
    assert lost(graded(with_cell(source, "one-test-first", "one = None"), source)) == []
    assert lost(graded(with_cell(source, "one", "one = None"), source)) == ["one-test-first", "one-test-second"]


def test_the_message_names_the_cell_that_binds_a_name_again():
    """It is in the explanation of tests that lost points, and in no other; the second run takes no notice of it."""
    wrong = answered(SOURCE, twice="def twice(x):\n    return x")
    submission = with_cell(wrong, "twice-check", "other = 1", "twice = twice(3)", "Layer = 3")
    report = graded(submission)
    assert lost(report) == ["twice-check", "twice-test-tensor"]
    by_name = {result.name: result.explanation.bound_again for result in report.results}
    assert {name for name, again in by_name.items() if again} == {"twice-test-tensor"}
    [again] = by_name["twice-test-tensor"]
    assert (again.name, again.cell, again.counts) == ("twice", "cell 5", False)
    assert "which does not count" in str(again)
    assert all(not result.explanation.bound_again for result in graded(wrong).results)


@pytest.mark.parametrize("seed", range(8))
def test_cells_that_define_nothing_cost_nothing_wherever_they_stand_below_a_check(seed):
    """A property over generated cells: any mixture of statements that bind names of exercises already checked."""
    draw = random.Random(seed)
    templates = [
        "{} = None", "{} = [1, 2]", "del {}", "for {} in 'ab': pass", "import math as {}", "{} = torch.ones(3)",
        "{} = lambda *_: 0", "with torch.no_grad() as {}: pass", "{}, x = 1, 2", "{} = nn.Linear(2, 2)", "{}: int = 5",
        "({} := 5)", "from torch import relu as {}", "{} = torch.relu", "for {}, x in [(1, 2)]: pass",
    ]  # fmt: skip
    submission, known = SOURCE, list[str]()
    for below, names in (
        ("twice-check", ["twice", "helper", "FACTOR"]),
        ("layer-check", ["Layer"]),
        ("both-check", ["both"]),
    ):
        known += names
        for place in (below, below.replace("-check", {"t": "-test-tensor"}.get(below[0], "-test-wide"))):
            picked = draw.sample(known, draw.randint(1, len(known)))
            submission = with_cell(submission, place, "\n".join(draw.choice(templates).format(name) for name in picked))
    report = graded(submission)
    assert lost(report) == []
