"""peak_memory measures a student's function in the sandbox as it does in one process."""

import textwrap
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.engine.rpc.message import ProtocolError
from grader.engine.runner.standins.errors import StudentError
from grader_kernel.peak_memory import peak_memory
from tests.support.both_worlds import assert_same

CODE = """
import math

def quadratic(q, k, v):
    weights = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)
    return weights @ v

def in_rows(q, k, v):
    return torch.cat([quadratic(row, k, v) for row in q.split(1, -2)], -2)

def learns(q, k, v):
    quadratic(q, k, v).sum().backward()
    return [each.grad for each in (q, k, v)]

def keeps_cycles(n):
    for _ in range(n):
        cycle = [torch.empty(1_000)]
        cycle.append(cycle)

class Cache:
    def __init__(self):
        self.keys = torch.empty(2, 0, 4)

    def append(self, key):
        self.keys = torch.cat((self.keys, key), 1)
        return self.keys

class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.drop = nn.Dropout(0.5)

    def forward(self, x, times=1):
        return self.drop(x * self.weight) * times

def fills(x, n):
    x.fill_(n)

def fails():
    raise KeyError("no")

def affine(x):
    return nn.functional.linear(x, torch.eye(3), torch.ones(3))
"""
GARBAGE = """
import gc
gc.set_threshold(1)
held = [[torch.ones(n)] for n in range(100)]
for each in held:
    each.append(each)
del held, each
"""
"""Leaves tensors to Python's collector, and has it collect at every step."""
L, D = 32, 4
TABLE = 4 * L * L
"""Bytes of a table of all weights."""


GIVEN = f"""
from grader_kernel.peak_memory import peak_memory
given = [torch.randn(2, {L}, {D}) for _ in range(3)]
learning = [torch.randn(2, {L}, {D}, requires_grad=True) for _ in range(3)]
"""
MEASURED = {
    "a table of weights": ("quadratic, *given", 2 * 2 * TABLE),
    "rows of a table": ("in_rows, *given", 2 * 2 * 4 * L * D),
    # The weighted numbers, by what dropout multiplies them, and its result.
    "a module": ("Scale(5), torch.ones(8, 5), times=2", 4 * 3 * 8 * 5),
    "an object of the student's": ("Cache", 0),
    "cycles": ("keeps_cycles, 5", 5 * 4_000),
}
"""Calls, and the bytes that each takes."""
USES = {
    name: f"""
        for _ in range(2):
            value, peak = peak_memory({call})
            assert peak == {peak}
        value = value if isinstance(value, torch.Tensor) else None
    """
    for name, (call, peak) in MEASURED.items()
} | {
    "a method": f"""
        cache = Cache()
        cache.append(torch.zeros(2, 7, 4))
        value, peak = peak_memory(cache.append, torch.ones(2, 1, 4))
        assert peak == {4 * 2 * 8 * 4}
    """,
    "a backward pass": f"""
        gradients, peak = peak_memory(learns, *learning)
        assert all(map(torch.equal, gradients, (each.grad for each in learning))) and peak > {2 * 2 * TABLE}
    """,
    "gradients through a call": """
        value, peak = peak_memory(quadratic, *learning)
        value.sum().backward()
    """,
    "writes and random numbers": """
        x, scale = torch.zeros(3), Scale(50)
        measured = peak_memory(fills, x, n=2), [peak_memory(scale, torch.ones(50))[0] for _ in range(2)]
        drawn = scale(torch.ones(50))
        assert not torch.equal(*measured[1])
    """,
}


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_a_measured_call_does_what_any_other_call_does(student: Any, test: str) -> None:
    """Both worlds find the same bytes, gradients and writes come back, and it takes the next random numbers."""
    assert_same(student, CODE, GIVEN + textwrap.dedent(test))


def test_an_error_in_a_measured_call_is_the_students(student: Any) -> None:
    """With its built-in class and the line of the student's cell."""
    with pytest.raises(KeyError) as error:
        peak_memory(student(CODE)["fails"])
    assert isinstance(error.value, StudentError) and error.value.info.frames[-1].text == 'raise KeyError("no")'


def test_a_measured_call_is_forbidden_what_any_other_call_is(student: Any) -> None:
    """And nothing more: not the operations by which a function that is allowed does its work."""
    names, x = student(CODE), torch.ones(2, 3)
    names.client.forbidden = ("linear",)
    with pytest.raises(StudentError, match="linear"):
        peak_memory(names["affine"], x)
    names.client.forbidden = ("addmm",)
    # The matrix, the bias and the result.
    assert peak_memory(names["affine"], x)[1] == 4 * (9 + 3 + 6)


def inputs() -> list[Tensor]:
    return [torch.randn(2, L, D) for _ in range(3)]


def test_two_sandboxes_answer_a_measured_call_with_the_same_bytes(student: Any) -> None:
    """So the answer cache can reuse the outcome of a test, whatever a sandbox has done before and left to collect."""
    fresh, used = student(CODE), student(CODE)
    used.run(GARBAGE)
    for name, given in (("quadratic", inputs()), ("in_rows", inputs()), ("keeps_cycles", [30])):
        assert peak_memory(fresh[name], *given)[1] == peak_memory(used[name], *given)[1] > 0


def test_a_function_of_the_test_is_measured_in_the_test(student: Any) -> None:
    """It sees what the test makes, and not what the student's function makes in the sandbox."""
    quadratic = student(CODE)["quadratic"]
    given = inputs()
    assert peak_memory(lambda: quadratic(*given) + 1)[1] == 2 * 4 * L * D


def test_a_measured_call_answers_with_a_number(student: Any) -> None:
    """If its reply holds none, as only a forged one does, it breaks the protocol."""
    names = student(CODE)
    names.run(
        "import gc\nfrom grader.engine.sandbox.server import RpcServer\n"
        "server = next(item for item in gc.get_objects() if type(item) is RpcServer)\n"
        "honest = server.answer\n"
        "def answer(request, decoded):\n"
        "    reply, tensors = honest(request, decoded)\n"
        "    reply.measured = None\n"
        "    return reply, tensors\n"
        "server.answer = answer\n"
    )
    quadratic = names["quadratic"]
    assert quadratic(*inputs()).shape == (2, L, D)
    with pytest.raises(ProtocolError, match="must hold its measure"):
        peak_memory(quadratic, *inputs())
