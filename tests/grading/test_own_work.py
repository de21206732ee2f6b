"""Where an exercise is to write what torch has already, a call of torch's own earns nothing, whatever road it takes."""

import pytest
from notebooks import answer, answered, check, helpers, hidden, notebook

from course.grading.grade import grade

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
    """Points and messages by test; edges is always the work of torch, which that exercise allows."""
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
def test_work_that_is_handed_to_torch_earns_nothing(work):
    """In the visible check and in hidden tests; the message says so and names the line."""
    code = (
        "from torch.nn.functional import conv1d as imported\n"
        "def layer(x, weight):\n    made = nn.Conv1d(3, 4, 2, bias=False)\n"
        "    made.weight = nn.Parameter(weight)\n    return made(x)\n"
        f"def convolve(x, weight):\n    return {work}"
    )
    found = judged(code)
    for test in ("convolve-check", "convolve-test-values"):
        points, message = found[test]
        assert points == 0
        assert "hands its work to torch" in message and "in convolve, line" in message and "conv1d" in message
    assert found["edges-test-values"][0] == 1


def test_own_work_and_other_functions_of_torch_are_free():
    """Only what the tags of the answer name is refused, and only while the tests of that exercise call."""
    assert all(points == 1 for points, _ in judged(OWN).values())
    with_linear = OWN.replace(
        'torch.einsum("bclk,ock->bol", windows, weight)', "(windows[:, None] * weight[:, :, None]).sum((2, 4))"
    )
    assert all(points == 1 for points, _ in judged(with_linear).values())


def test_who_is_refused_can_do_it_oneself():
    """An answer that tries torch first and then does the work has done the work."""
    body = OWN.replace(
        "\n    windows",
        "\n    try:\n        return F.conv1d(x, weight)\n    except RuntimeError:\n        pass\n    windows",
    )
    assert all(points == 1 for points, _ in judged(body).values())


def test_the_words_of_the_refusal_are_ours():
    """A student's exception of the same name tells nothing of a hidden test."""
    code = "class HandedOver(RuntimeError):\n    pass\ndef convolve(x, weight):\n    raise HandedOver(str(x.tolist()))"
    _, message = judged(code)["convolve-test-values"]
    assert "tensor" not in message and "[[" not in message and "0." not in message
