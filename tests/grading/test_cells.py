"""What a notebook's cells may use, outside a kernel too: magics, display, and names from cell to cell."""

import pytest
from notebooks import answer, answered, check, code, helpers, notebook

from course.grading.grade import grade

SOURCE = notebook(
    helpers("imports", "%matplotlib inline\nimport torch\nimport matplotlib.pyplot as plt"),
    answer("f", "def f(x):\n    return x + 1"),
    check("f-check", "assert torch.equal(f(torch.ones(2)), torch.full((2,), 2.0))"),
)


def outputs(source):
    """What a student's own cell, put last, shows."""
    submission = answered(SOURCE)
    submission.cells.append(code(source))
    return grade(SOURCE, submission).outputs[3]


def test_magics_in_our_imports_are_understood():
    """%matplotlib inline stands at the top of many a notebook, in the examiner's half too."""
    assert grade(SOURCE, SOURCE).points == 1


@pytest.mark.parametrize(
    "magic", ["%%time\n", "%%capture\n", "%matplotlib inline\n", "%time pass\n", "get_ipython()\n"]
)
def test_an_answer_under_a_magic_counts(magic):
    """What a timed or silenced cell defines is defined."""
    assert grade(SOURCE, answered(SOURCE, f=magic + "def f(x):\n    return x + 1")).points == 1


@pytest.mark.parametrize("line", ["!ls", "%nonsense", "%%bash\nls", "await x", "x ="])
def test_a_cell_that_does_not_run_says_so_and_costs_nothing_else(line):
    """Programs are not started, unknown magics and syntax errors are shown as in a notebook."""
    shown = outputs(line)
    assert shown and shown[-1]["output_type"] in ("error", "stream")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *((line, "nobody types") for line in ("input('?')", "breakpoint()")),
        *((line, "programs do not run") for line in ("!ls", "!!ls", "files = !ls", "%pip install nothing", "%ls")),
    ],
)
def test_what_wants_a_person_or_a_program_is_told_in_words(line, words):
    """In the line that asks for it: a breakpoint that was forgotten is found."""
    shown = outputs(f"1\n{line}")[-1]["traceback"]
    assert shown[0].startswith("<cell 4>, line 2: ") and words in shown[-1]


def test_the_value_of_the_last_line_is_shown():
    """With what display() and print() show, pictures too."""
    assert outputs("print('a')\n1 + 1")[0]["text"] == "a\n"
    assert outputs("print('a')\n1 + 1")[1]["data"]["text/plain"] == "2"
    assert outputs("display('b')")[0]["data"]["text/plain"] == "'b'"
    assert "image/png" in outputs("fig, ax = plt.subplots()\nax.plot([1, 2])\nfig")[-1]["data"]
    assert outputs("None") == []


def test_a_read_only_cell_may_use_the_students_code():
    """A demonstration between blank and tests runs with the student's function, and harms nothing if that is wrong."""
    source = notebook(
        *(helpers("imports", "import torch"), answer("f", "def f(x):\n    return x + 1")),
        helpers("demo", "shown = f(1)\nprint(shown)"),
        check("f-check", "assert f(1) == 2 and shown == 2"),
    )
    assert grade(source, source).points == 1
    assert grade(source, answered(source, f="def f(x):\n    raise ValueError")).points == 0


def test_characters_that_no_file_takes_are_replaced():
    """Half a surrogate pair, printed, shown, raised or in the source, ends up in a notebook that can be written."""
    submission = answered(SOURCE, f="def f(x):\n    raise ValueError('\\ud800')\nprint('\\ud800')\n'\\udfff'\n1/0")
    report = grade(SOURCE, submission)
    assert str(report.as_json()).encode("utf-8") and report.points == 0


def test_a_future_holds_for_the_cells_behind_it():
    """As in a notebook: what `from __future__ import annotations` allows in one cell is allowed in the next."""
    submission = answered(SOURCE, f="def f(x: Later) -> Later:\n    return x + 1")
    submission.cells.insert(1, code("from __future__ import annotations"))
    assert grade(SOURCE, submission).points == 1


def test_floats_of_double_precision_in_a_cell_of_ones_own_cost_nothing():
    """Layers that a test has made fit what the test hands them, as they do where both are in one process."""
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
def test_a_cell_of_ours_does_the_same_as_the_students_own(demo, future):
    """It is compiled once for a class and not by the candidate; that shows nowhere, not even behind a future."""
    source = notebook(answer("f", "def f(x):\n    return x + 1"), code(demo), check("f-check", "assert f(1) == 2"))
    first, own, free = code(future), code(f"{demo}  # mine"), answered(source)
    submission = answered(source)
    submission.cells.insert(0, first)
    free.cells[1:2] = [own]
    free.cells.insert(0, first)
    shown = [[output | {"text": ""} for output in grade(source, one).outputs[2]] for one in (submission, free)]
    assert shown[0] == shown[1] != []


def test_an_error_in_a_cell_of_ours_names_its_line():
    """As one in the student's own cells, with the text of the line."""
    source = notebook(answer("f", "def f(x):\n    return x"), code("x = 1\nf(x)"), check("f-check", "f(1)"))
    wrong = grade(source, answered(source, f="def f(x):\n    raise ValueError('no')"))
    assert wrong.outputs[1][-1]["traceback"][:1] == ["<cell 2>, line 2: f(x)"]
