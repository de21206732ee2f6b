"""peak_memory counts the bytes of the tensors that are alive at once during a call, the same in every run."""

import gc
from collections.abc import Callable
from contextlib import suppress

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from grader_kernel import peak_memory as memory
from grader_kernel.peak_memory import peak_memory

N = 1_000
"""Numbers in a tensor of most cases, of 4 bytes each."""
X = torch.ones(N)
ONE = 4 * N
"""Bytes of one such tensor."""
TABLE = torch.ones(N)
"""A tensor that is no argument, and that was there before."""


def in_a_loop(x: Tensor) -> Tensor:
    for _ in range(10):
        x = x + 1
    return x


def a_tensor_in_a_cycle() -> list:
    cycle: list = [X + 1]
    cycle.append(cycle)
    return cycle


def cycles_left_behind() -> None:
    for _ in range(5):
        a_tensor_in_a_cycle()


def cycles_collected() -> None:
    for _ in range(5):
        a_tensor_in_a_cycle()
        gc.collect(0)


def numpy_keeps_it() -> object:
    array = (X + 1).numpy()
    return array, X + 2


CALLS: dict[str, tuple[Callable[[], object], int]] = {
    "a result": (lambda: X + 1, ONE),
    "of two bytes a number": (lambda: X.half(), ONE // 2),
    "an intermediate result": (lambda: (X + 1) * 2, 2 * ONE),
    "in place": (lambda: (X + 1).mul_(2).exp_(), ONE),
    "old and new in a loop": (lambda: in_a_loop(X), 2 * ONE),
    "nothing": (lambda: 1, 0),
    "the argument itself": (lambda: X, 0),
    "views": (lambda: (X.view(10, 100).t(), X[5:], X.expand(50, N), X.detach(), X.chunk(3), X.data), 0),
    "views of a result": (lambda: [(X + 1).view(10, 100).t()[2:].unbind() for _ in range(3)], 3 * ONE),
    "one number of a result": (lambda: (X + 1)[3], ONE),
    "a tensor from before": (lambda: TABLE.view(10, 100).t(), 0),
    "a write into one from before": (lambda: TABLE.mul_(1), 0),
    "numbers from a list": (lambda: torch.tensor([0.0] * N), ONE),
    "numbers from a list, then more": (lambda: torch.tensor([0.0] * N) + 1, 2 * ONE),
    "random numbers": (lambda: torch.rand(N), ONE),
    "a parameter": (lambda: nn.Parameter(torch.empty(N)), ONE),
    "a layer": (lambda: nn.Linear(N, 3), 4 * (3 * N + 3)),
    "into one from before": (lambda: torch.add(X, 1, out=torch.empty(N)), ONE),
    "two results of one operation": (lambda: X.sort(), ONE + 8 * N),
    "numpy's view": (numpy_keeps_it, 2 * ONE),
    "numpy's own": (lambda: numpy.ones(N), 0),
    "of a numpy array": (lambda: torch.from_numpy(numpy.ones(N)), 8 * N),
    "cycles": (cycles_left_behind, 5 * ONE),
    "cycles that are collected": (cycles_collected, ONE),
    "a sparse tensor": (lambda: torch.eye(N).to_sparse().sum().item(), N * ONE),
}
"""Calls by what they show, and the bytes that they take."""


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_every_storage_counts_once_while_it_is_alive(call: Callable[[], object], expected: int) -> None:
    """In the first call and in every later one."""
    assert [peak_memory(call)[1] for _ in range(3)] == 3 * [expected]


def test_the_result_and_the_arguments_are_those_of_a_call() -> None:
    """Values, keyword arguments, writes into arguments, exceptions."""
    x = torch.zeros(3)
    assert peak_memory(lambda a, *rest, by=1: (a.add_(by), rest), x, 5, by=2) == ((x, (5,)), 0)
    assert x.tolist() == [2, 2, 2]
    with pytest.raises(ZeroDivisionError):
        peak_memory(lambda: 1 / 0)


def test_an_argument_that_grows_counts_by_what_it_grows() -> None:
    """What it loses is not set off against what the call makes."""
    x = torch.ones(N)
    assert peak_memory(lambda y: torch.add(x, x, out=y), torch.ones(N))[1] == 0
    assert peak_memory(lambda y: torch.add(x, x, out=y), torch.empty(0))[1] == ONE
    assert peak_memory(lambda y: y.resize_(3 * N), torch.ones(N))[1] == 2 * ONE

    def shrinks(y: Tensor) -> Tensor:
        y.mul_(2).untyped_storage().resize_(0)
        y.resize_(0)
        return torch.empty(N)

    assert peak_memory(shrinks, torch.ones(N))[1] == ONE


def test_a_backward_pass_counts() -> None:
    """The exponentials that autograd keeps, the gradient beside them, the loss and its own gradient."""

    def learn(x: Tensor) -> None:
        x.exp().sum().backward()

    x = torch.ones(N, requires_grad=True)
    assert peak_memory(learn, x)[1] == 2 * ONE + 2 * 4
    assert x.grad is not None


def test_what_autograd_keeps_is_alive() -> None:
    """Without gradients, an earlier layer's result is released; with them, it is kept for the backward pass."""

    def layers(x: Tensor) -> Tensor:
        for _ in range(6):
            x = x.exp()
        return x

    assert peak_memory(layers, X)[1] == 2 * ONE
    assert peak_memory(layers, X.clone().requires_grad_())[1] == 6 * ONE


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["make", "view", "drop", "grow"]), st.integers(0, 9), st.integers(0, 500)),
        max_size=40,
    )
)
def test_any_sequence_of_operations(steps: list[tuple[str, int, int]]) -> None:
    """The peak is the largest sum of all storages that a list of tensors held at a time."""
    peaks = [0]

    def follow() -> None:
        held: list[Tensor] = []
        for step, place, size in steps:
            if step == "make" or not held:
                held.append(torch.empty(size))
            elif step == "view":
                held.append(held[place % len(held)].view(-1)[:3])
            elif step == "grow":
                held[place % len(held)].resize_(size)
            else:
                del held[place % len(held)]
            # By the address of the storage: an empty tensor has none of its own.
            bytes_of = {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in held}
            peaks.append(sum(bytes_of.values()))

    assert peak_memory(follow)[1] == max(peaks)


def test_a_measurement_in_a_measurement() -> None:
    """Both count, each what it saw."""
    inner: list[int] = []

    def measured_again(x: Tensor) -> Tensor:
        y = x + 1
        z, peak = peak_memory(torch.exp, y)
        inner.append(peak)
        return z

    assert peak_memory(measured_again, X)[1] == 2 * ONE and inner == [ONE]


@pytest.mark.slow
@pytest.mark.parametrize("was_on", [True, False])
def test_a_measurement_leaves_nothing_behind(was_on: bool) -> None:
    """Nothing to collect, and the collector as it was, also after an exception: a sandbox may measure many calls."""
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        for function, errors in ((abs, ()), (len, TypeError)):
            with suppress(errors):
                peak_memory(function, 1)
            assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()
    result, _ = peak_memory(torch.exp, X)
    assert [each for each in gc.get_objects() if type(each) is memory._Storages] == [] and result.shape == X.shape


def test_a_function_cannot_claim_to_be_measured_elsewhere() -> None:
    """Only the class of a grader's stand-in can, as with Python's own special methods."""

    def large() -> Tensor:
        return torch.empty(N)

    large.__measured__ = lambda *_: (None, 0)  # type: ignore[attr-defined]
    assert peak_memory(large)[1] == ONE
