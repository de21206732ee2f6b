"""Gradients and random numbers across the boundary are those of one process."""

import gc

import pytest
import torch
from torch import nn
from torch.nn import functional as F

ATTENTION = """
def attention(q, k, v, mask=None):
    score = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        score = score.masked_fill(mask, float("-inf"))
    weights = score.softmax(-1)
    return weights @ v, weights
"""


def test_gradients_are_those_of_one_process(in_both):
    """For every argument, through every output, to the last bit."""
    results = []
    for names in in_both(ATTENTION):
        g = torch.Generator().manual_seed(1)
        q, k, v = (torch.randn(2, 4, 3, generator=g).requires_grad_() for _ in range(3))
        out, weights = names["attention"](q, k * 2, v, mask=torch.eye(4, dtype=torch.bool))
        (out.sum() + (weights**2).sum()).backward()
        results.append((out, weights, q.grad, k.grad, v.grad))
    for local, remote in zip(*results, strict=True):
        assert torch.equal(local, remote)


def test_gradients_agree_with_small_differences(student):
    """gradcheck accepts a right function and rejects one that cuts the graph."""
    remote = student(ATTENTION + "def cut(x):\n    return (x * x.detach()).sum()")
    inputs = [torch.randn(1, 3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(remote["attention"], inputs)
    with pytest.raises(RuntimeError, match="Jacobian"):
        torch.autograd.gradcheck(remote["cut"], inputs[:1])


def test_the_same_tensor_twice_collects_both_gradients(student):
    """x * x has the gradient 2 x."""
    x = torch.tensor(3.0, requires_grad=True)
    student("def product(a, b):\n    return a * b")["product"](x, x).backward()
    assert x.grad == 6


def test_no_grad_is_respected(student):
    """Without gradients in the test there are none in the sandbox. A result of integers never requires one."""
    remote = student("def f(x):\n    return x * 2, torch.is_grad_enabled(), x.argmax()")
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        out, enabled, _ = remote["f"](x)
    assert not enabled and not out.requires_grad
    out, enabled, place = remote["f"](x)
    assert enabled and out.requires_grad and not place.requires_grad
    assert not remote["f"](torch.ones(2))[0].requires_grad


def test_detached_results_have_no_gradient(student):
    """A function that cuts the graph returns a tensor that requires no gradient, as in one process."""
    remote = student("def f(x):\n    return x.detach(), x + 1")
    cut, whole = remote["f"](torch.ones(2, requires_grad=True))
    assert not cut.requires_grad and whole.requires_grad


def test_a_leaf_that_requires_grad_stays_one(student):
    """A tensor that student code makes with requires_grad=True, or as nn.Parameter, is a leaf in the test too."""
    remote = student(
        "w = torch.ones(2, requires_grad=True)\ndef make(n):\n    return nn.Parameter(torch.zeros(n)), torch.zeros(n)"
    )
    assert remote["w"].requires_grad and remote["w"].is_leaf
    parameter, plain = remote["make"](3)
    assert isinstance(parameter, nn.Parameter) and parameter.requires_grad and parameter.is_leaf
    assert not plain.requires_grad
    parameter.sum().backward()
    assert parameter.grad.tolist() == [1, 1, 1]


def test_backward_may_run_twice_where_the_graph_is_kept(student):
    """With retain_graph=True gradients add up, and autograd.grad computes single ones."""
    x = torch.ones(2, requires_grad=True)
    out = student("def f(x):\n    return (x * 3).sum()")["f"](x)
    out.backward(retain_graph=True)
    (again,) = torch.autograd.grad(out, x)
    assert x.grad.tolist() == again.tolist() == [3, 3]


def test_an_exception_in_a_call_with_gradients_keeps_its_class(student):
    """It passes through autograd on its way to the test."""
    with pytest.raises(ValueError, match="width"):
        student("def f(x):\n    raise ValueError('width')")["f"](torch.ones(1, requires_grad=True))


def test_random_numbers_are_those_of_one_process(student):
    """A test's torch.manual_seed seeds the sandbox, and numbers drawn in the sandbox advance the test's state."""
    remote = student("def noisy(x):\n    return nn.functional.dropout(x, 0.5) + torch.randn(4)")
    torch.manual_seed(7)
    drawn = [torch.rand(1), remote["noisy"](torch.ones(4)), torch.rand(1), remote["noisy"](torch.ones(4))]
    torch.manual_seed(7)
    noisy = lambda: F.dropout(torch.ones(4), 0.5) + torch.randn(4)  # noqa: E731
    expected = [torch.rand(1), noisy(), torch.rand(1), noisy()]
    for numbers, right in zip(drawn, expected, strict=True):
        assert torch.equal(numbers, right)


def test_a_call_that_draws_nothing_leaves_the_random_state(student):
    """A test's own numbers do not depend on whether it called the student's function before."""
    remote = student("def f():\n    return 1")
    torch.manual_seed(3)
    remote["f"]()
    drawn = torch.rand(2)
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.rand(2))


def test_a_generator_travels_with_its_state(student):
    """A torch.Generator draws the same numbers in the sandbox and comes back in the state that this leads to."""
    remote = student("def draw(generator, n):\n    return torch.rand(n, generator=generator)")
    local, sent = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    for _ in range(2):
        assert torch.equal(remote["draw"](sent, n=3), torch.rand(3, generator=local))


def test_a_result_may_be_changed_in_place(student):
    """By a test, whether or not the result requires a gradient."""
    remote = student("def f(x):\n    return (x * 2).t()")
    x = torch.ones(2, 3, requires_grad=True)
    out = remote["f"](x)
    out *= 3
    out.sum().backward()
    assert x.grad.unique().tolist() == [6]
    plain = remote["f"](torch.ones(2, 3))
    plain += 1
    assert plain.unique().tolist() == [3]


def test_tensors_keep_their_memory_order(student):
    """A `.view` that fails in a student's notebook fails when graded, for arguments and for results."""
    remote = student("def view(x):\n    return x.view(6)\ndef turn(x):\n    return x.t()")
    with pytest.raises(RuntimeError, match="view size"):
        remote["view"](torch.ones(2, 3).t().requires_grad_())
    with pytest.raises(RuntimeError, match="view size"):
        remote["turn"](torch.ones(2, 3)).view(6)


def test_unused_results_are_not_differentiated(student):
    """If a test uses only one result, the other may have no derivative or an infinite one."""
    both = student("def both(x):\n    return x * 3, torch.heaviside(x, torch.ones(())), (x - x).sqrt()")["both"]
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    both(x)[0].sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        both(x)[1].sum().backward()


@pytest.mark.slow
def test_a_call_is_freed_with_its_last_reference(student):
    """On both sides without a garbage collection: a test that trains would otherwise keep all of its steps."""
    remote = student(
        "import gc\ngc.disable()\n"
        "def collected():\n    return gc.collect()\n"
        "def both(items, more):\n    return [2 * item for item in items], more\n"
    )
    model = student("Net = nn.Linear")["Net"](3, 2)
    collected, both = remote["collected"], remote["both"]

    def calls():
        for x in torch.ones(3, 2, requires_grad=True):
            both([x, x], {"more": (1, slice(2))})[0][1].sum().backward()
            model(torch.ones(1, 3)).sum().backward()

    calls()
    collected()
    gc.collect()
    gc.disable()
    try:
        calls()
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert collected() == 0
