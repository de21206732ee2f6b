"""An answer that calls the library function that it should write earns nothing, however it reaches that function."""

import pytest

from grader.engine.grading import grade
from grader.engine.notebook.cells import forbidden_words
from grader_kernel.without import rule
from tests.grader_kernel.test_without import is_refused
from tests.support.exercises import NOTEBOOKS
from tests.support.library_functions import calls
from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook

CELLS = [cell for notebook in NOTEBOOKS.values() for cell in notebook.cells]
WORDS = tuple(sorted({word for cell in CELLS for word in forbidden_words(cell)}))
"""Those of the course's exercises."""

OWN = """
def convolve(x, weight):
    windows = x.unfold(2, 2, 1)
    return torch.einsum("bclk,ock->bol", windows, weight)
"""
SOURCE = notebook(
    helpers("imports", "import torch\nimport torch.nn.functional as F\nfrom torch import nn"),
    answer("convolve", f"### BEGIN SOLUTION{OWN}### END SOLUTION", "without:conv"),
    check(
        "convolve-check",
        "x = torch.ones(1, 1, 3)\nassert convolve(x, torch.ones(1, 1, 2)).flatten().tolist() == [2, 2]",
    ),
    hidden(
        "convolve-test-values",
        "convolve gives what torch gives.",
        "x, weight = torch.rand(2, 3, 5), torch.rand(4, 3, 2)\n"
        "assert torch.allclose(convolve(x, weight), F.conv1d(x, weight)), 'the values are not right'",
    ),
    answer("edges", "### BEGIN SOLUTION\ndef edges(x):\n    return convolve(x, EDGE)\nEDGE = 0\n### END SOLUTION"),
    hidden(
        "edges-test-values",
        "edges are differences of neighbours.",
        "x = torch.rand(1, 1, 5)\nassert torch.allclose(edges(x), x[..., 1:] - x[..., :-1]), 'no differences'",
    ),
)
EDGES = "def edges(x):\n    return F.conv1d(x, torch.tensor([[[-1.0, 1.0]]]))"


def judged(convolve):
    """Points and messages by test. The answer to edges always uses torch's function, which that exercise allows."""
    report = grade(SOURCE, answered(SOURCE, convolve=convolve, edges=EDGES))
    return {result.name: (result.points, result.message) for result in report.results}


@pytest.mark.slow
@pytest.mark.parametrize("work", ["F.conv1d(x, weight)", "saved(x, weight)", "layer(x, weight)", "by_numpy(x, weight)"])
def test_a_forbidden_function_earns_nothing(work):
    """In the visible check and in hidden tests; the message names the function and the line.

    The rule is that of grader_kernel.without, whose tests try every way to a function.
    """
    code = (
        "from functools import partial\n"
        "import numpy as np\n"
        "saved = partial(F.conv1d, bias=None)\n"
        "def by_numpy(x, weight):\n"
        "    valid = lambda line, part: np.convolve(line, part, 'valid')\n"
        "    rows = [[sum(map(valid, item.numpy(), kernel.flip(1).numpy())) for kernel in weight] for item in x]\n"
        "    return torch.tensor(np.array(rows))\n"
        "def layer(x, weight):\n    made = nn.Conv1d(3, 4, 2, bias=False)\n"
        "    made.weight = nn.Parameter(weight)\n    return made(x)\n"
        f"def convolve(x, weight):\n    return {work}"
    )
    results = judged(code)
    for test in ("convolve-check", "convolve-test-values"):
        points, message = results[test]
        assert points == 0
        assert "hands its work to a library" in message and "in convolve, line" in message
        assert message.endswith(rule(["conv"]))
    assert results["edges-test-values"][0] == 1


def test_other_functions_of_torch_are_allowed():
    """Only functions whose names hold a word are forbidden, and only while tests of that exercise call it."""
    einsum, product = 'torch.einsum("bclk,ock->bol", windows, weight)', "(windows[:, None] * weight[:, :, None])"
    for code in (OWN, OWN.replace(einsum, f"{product}.sum((2, 4))")):
        assert all(points == 1 for points, _ in judged(code).values())


def test_an_answer_that_catches_the_refusal_earns_nothing():
    """It has called the function all the same."""
    caught = "\n    try:\n        return F.conv1d(x, weight)\n    except RuntimeError:\n        pass\n    windows"
    results = judged(OWN.replace("\n    windows", caught))
    assert [results[test][0] for test in ("convolve-check", "convolve-test-values")] == [0, 0]


@pytest.mark.slow
def test_every_function_whose_name_holds_a_word_of_the_course_is_refused():
    """Each operator of torch, and each function that its modules, NumPy's and SciPy's hold, for the course's words."""
    found = calls(WORDS)
    assert len(found) > 500
    assert [name for name, guesses in found if not any(is_refused(guess, WORDS) for guess in guesses)] == []


def test_a_students_exception_of_the_same_name_is_no_refusal():
    """Its message could hold values of a hidden test, so it is not shown."""
    code = (
        "class ForbiddenFunction(RuntimeError):\n    pass\n"
        "def convolve(x, weight):\n    raise ForbiddenFunction(str(x.tolist()))"
    )
    _, message = judged(code)["convolve-test-values"]
    assert "hands its work" not in message and "raised RuntimeError" in message
    assert "tensor" not in message and "[[" not in message and "0." not in message
