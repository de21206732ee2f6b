"""Cells run outside a kernel as in a notebook: with magics, display, and names that later cells see."""

import json

import pytest

from grader.engine.grading import grade
from tests.support.notebooks import answer, answered, check, code, helpers, notebook

SOURCE = notebook(
    helpers("imports", "%matplotlib inline\nimport torch\nimport matplotlib.pyplot as plt"),
    answer("f", "def f(x):\n    return x + 1"),
    check("f-check", "assert torch.equal(f(torch.ones(2)), torch.full((2,), 2.0))"),
)


def outputs(source):
    """The outputs of a student's own cell at the end of the notebook."""
    submission = answered(SOURCE)
    submission.cells.append(code(source))
    return grade(SOURCE, submission).outputs[3]


@pytest.mark.slow
def test_an_answer_under_a_magic_counts():
    """Names of a timed or silenced cell, or of one with a command, are there for the tests; imports may have magics."""
    lines = ("", "%%time", "%%capture", "%matplotlib inline", "%time pass", "get_ipython()", "_, In")
    commands = ("!pip install nosuchpackage", "%cd /content", "f = !ls", "import asyncio\nawait asyncio.sleep(0)")
    for line in lines + commands:
        assert grade(SOURCE, answered(SOURCE, f=f"{line}\ndef f(x):\n    return x + 1")).points == 1, line


@pytest.mark.slow
def test_a_cell_that_does_not_run_shows_why():
    """Programs do not start; unknown magics and syntax errors are shown. The line that needs a person is named."""
    for line in ("!ls", "%nonsense", "%%bash\nls", "await x", "x ="):
        shown = outputs(line)
        assert shown and shown[-1]["output_type"] in ("error", "stream"), line
    for line in ("input('?')", "breakpoint()"):
        shown = outputs(f"1\n{line}")[-1]["traceback"]
        assert shown[0].startswith("<cell 4>, line 2: ") and "no one is at the keyboard" in shown[-1]


@pytest.mark.slow
def test_the_value_of_the_last_line_is_shown():
    """Beside the outputs of display() and print(), including pictures."""
    printed, value = outputs("print('a')\n1 + 1")
    assert (printed["text"], value["data"]["text/plain"]) == ("a\n", "2")
    assert outputs("display('b')")[0]["data"]["text/plain"] == "'b'"
    assert "image/png" in outputs("fig, ax = plt.subplots()\nax.plot([1, 2])\nfig")[-1]["data"]
    assert outputs("None") == []


def test_a_read_only_cell_may_use_the_students_code():
    """A demonstration between blank and tests calls the student's function, and does no harm if that is wrong."""
    source = notebook(
        *(helpers("imports", "import torch"), answer("f", "def f(x):\n    return x + 1")),
        helpers("demo", "shown = f(1)\nprint(shown)"),
        check("f-check", "assert f(1) == 2 and shown == 2"),
    )
    assert grade(source, source).points == 1
    assert grade(source, answered(source, f="def f(x):\n    raise ValueError")).points == 0


def test_characters_without_an_encoding_are_replaced():
    """Half of a surrogate pair may be printed, shown, raised or in the source: the notebook can still be written."""
    submission = answered(
        SOURCE, f="def f(x):\n    raise ValueError('\\ud800')\nprint('\\ud800')\ndisplay('\\udfff')\n1/0"
    )
    report = grade(SOURCE, submission)
    shown = json.dumps([report.outputs, report.as_json()], ensure_ascii=False)
    assert shown.encode("utf-8") and r'"?\n"' in shown and report.points == 0


def test_a_future_import_holds_for_later_cells():
    """As in a notebook: after `from __future__ import annotations`, later cells may use what it allows."""
    submission = answered(SOURCE, f="def f(x: Later) -> Later:\n    return x + 1")
    submission.cells.insert(1, code("from __future__ import annotations"))
    assert grade(SOURCE, submission).points == 1


def test_a_default_dtype_that_student_code_sets_costs_no_points():
    """Layers that a test makes fit the test's own tensors, as they do in one process."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("Net", "class Net(nn.Linear):\n    pass"),
        check("Net-check", "out = Net(2, 3)(torch.ones(1, 2))\nassert out.shape == (1, 3)"),
        check(
            "Net-test-double",
            "torch.set_default_dtype(torch.float64)\nassert Net(2, 3)(torch.ones(1, 2)).dtype == torch.float64",
        ),
    )
    submission = answered(source)
    submission.cells.insert(1, code("torch.set_default_dtype(torch.float64)"))
    assert grade(source, submission).points == grade(source, source).points == 2


@pytest.mark.parametrize("future", ["pass", "from __future__ import annotations"])
@pytest.mark.parametrize(
    "demo", ["%time f(1)", "'\0'", "f(1)\nprint('a')\nf(2)", "def g(x: int): ...\ng.__annotations__"]
)
def test_an_instructors_cell_shows_the_same_as_a_students(demo, future):
    """It is compiled once for a class and not in the sandbox, which makes no difference, even after a future import."""
    source = notebook(answer("f", "def f(x):\n    return x + 1"), code(demo), check("f-check", "assert f(1) == 2"))
    first, changed = code(future), answered(source)
    submission = answered(source)
    submission.cells.insert(0, first)
    changed.cells[1:2] = [code(f"{demo}  # the student's")]
    changed.cells.insert(0, first)
    shown = [[output | {"text": ""} for output in grade(source, each).outputs[2]] for each in (submission, changed)]
    assert shown[0] == shown[1] != []


def test_an_error_in_an_instructors_cell_names_its_line():
    """With the text of the line, like an error in a student's cell."""
    source = notebook(answer("f", "def f(x):\n    return x"), code("x = 1\nf(x)"), check("f-check", "f(1)"))
    wrong = grade(source, answered(source, f="def f(x):\n    raise ValueError('no')"))
    assert wrong.outputs[1][-1]["traceback"][:1] == ["<cell 2>, line 2: f(x)"]
