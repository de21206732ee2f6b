"""An answer that calls the torch function that it should write earns nothing, however it reaches that function."""

import pytest

from grader.grading import grade
from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook

OWN = """
def convolve(x, weight):
    windows = x.unfold(2, 2, 1)
    return torch.einsum("bclk,ock->bol", windows, weight)
"""
SOURCE = notebook(
    helpers("imports", "import torch\nimport torch.nn.functional as F\nfrom torch import nn"),
    answer("convolve", f"### BEGIN SOLUTION{OWN}### END SOLUTION", "without:conv1d", "without:convolution"),
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


@pytest.mark.parametrize(
    "work",
    [
        "F.conv1d(x, weight)",
        "torch.conv1d(x, weight)",
        "imported(x, weight)",
        "torch.convolution(x, weight, None, [1], [0], [1], False, [0], 1)",
        "torch.ops.aten.conv1d(x, weight)",
        "torch.ops.aten.conv1d.default(x, weight)",
        "layer(x, weight)",
    ],
)
def test_a_forbidden_function_earns_nothing(work):
    """In the visible check and in hidden tests; the message names the function and the line."""
    code = (
        "from torch.nn.functional import conv1d as imported\n"
        "def layer(x, weight):\n    made = nn.Conv1d(3, 4, 2, bias=False)\n"
        "    made.weight = nn.Parameter(weight)\n    return made(x)\n"
        f"def convolve(x, weight):\n    return {work}"
    )
    results = judged(code)
    for test in ("convolve-check", "convolve-test-values"):
        points, message = results[test]
        assert points == 0
        assert "hands its work to torch" in message and "in convolve, line" in message and "conv1d" in message
    assert results["edges-test-values"][0] == 1


def test_other_functions_of_torch_are_allowed():
    """Only functions named by the tags of the answer are forbidden, and only while tests of that exercise call it."""
    assert all(points == 1 for points, _ in judged(OWN).values())
    with_linear = OWN.replace(
        'torch.einsum("bclk,ock->bol", windows, weight)', "(windows[:, None] * weight[:, :, None]).sum((2, 4))"
    )
    assert all(points == 1 for points, _ in judged(with_linear).values())


def test_an_answer_may_catch_the_refusal():
    """An answer that tries torch's function first and then computes the result by itself is right."""
    body = OWN.replace(
        "\n    windows",
        "\n    try:\n        return F.conv1d(x, weight)\n    except RuntimeError:\n        pass\n    windows",
    )
    assert all(points == 1 for points, _ in judged(body).values())


def test_a_students_exception_of_the_same_name_is_no_refusal():
    """Its message could hold values of a hidden test, so it is not shown."""
    code = (
        "class ForbiddenFunction(RuntimeError):\n    pass\n"
        "def convolve(x, weight):\n    raise ForbiddenFunction(str(x.tolist()))"
    )
    _, message = judged(code)["convolve-test-values"]
    assert "hands its work" not in message and "raised RuntimeError" in message
    assert "tensor" not in message and "[[" not in message and "0." not in message
