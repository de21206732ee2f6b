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
    """Of every argument, through every output, to the last bit."""
    results = []
    for names in in_both(ATTENTION):
        g = torch.Generator().manual_seed(1)
        q, k, v = (torch.randn(2, 4, 3, generator=g).requires_grad_() for _ in range(3))
        out, weights = names["attention"](q, k * 2, v, mask=torch.eye(4, dtype=torch.bool))
        (out.sum() + (weights**2).sum()).backward()
        results.append((out, weights, q.grad, k.grad, v.grad))
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def test_gradients_agree_with_small_differences(student):
    """gradcheck holds for a right function, and finds the one that cuts the graph."""
    theirs = student(ATTENTION + "def cut(x):\n    return (x * x.detach()).sum()")
    inputs = [torch.randn(1, 3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(theirs["attention"], inputs)
    with pytest.raises(RuntimeError, match="Jacobian"):
        torch.autograd.gradcheck(theirs["cut"], inputs[:1])


def test_the_same_tensor_twice_collects_both_gradients(student):
    """x * x has the gradient 2 x."""
    x = torch.tensor(3.0, requires_grad=True)
    student("def product(a, b):\n    return a * b")["product"](x, x).backward()
    assert x.grad == 6


def test_no_grad_is_respected(student):
    """Without gradients here there are none there; a result of integers wants none."""
    theirs = student("def f(x):\n    return x * 2, torch.is_grad_enabled(), x.argmax()")
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        out, enabled, _ = theirs["f"](x)
    assert not enabled and not out.requires_grad
    out, enabled, place = theirs["f"](x)
    assert enabled and out.requires_grad and not place.requires_grad
    assert not theirs["f"](torch.ones(2))[0].requires_grad


def test_detached_results_have_no_gradient(student):
    """A function that cuts the graph returns what requires no gradient, as in one process."""
    theirs = student("def f(x):\n    return x.detach(), x + 1")
    cut, whole = theirs["f"](torch.ones(2, requires_grad=True))
    assert not cut.requires_grad and whole.requires_grad


def test_a_tensor_that_wants_a_gradient_still_does(student):
    """What a student makes with requires_grad=True or as nn.Parameter is a leaf here, too."""
    theirs = student(
        "w = torch.ones(2, requires_grad=True)\ndef make(n):\n    return nn.Parameter(torch.zeros(n)), torch.zeros(n)"
    )
    assert theirs["w"].requires_grad and theirs["w"].is_leaf
    parameter, plain = theirs["make"](3)
    assert isinstance(parameter, nn.Parameter) and parameter.requires_grad and parameter.is_leaf
    assert not plain.requires_grad
    parameter.sum().backward()
    assert parameter.grad.tolist() == [1, 1, 1]


def test_backward_may_run_twice_where_the_graph_is_kept(student):
    """retain_graph=True adds the gradients up; autograd.grad takes single ones."""
    x = torch.ones(2, requires_grad=True)
    out = student("def f(x):\n    return (x * 3).sum()")["f"](x)
    out.backward(retain_graph=True)
    (again,) = torch.autograd.grad(out, x)
    assert x.grad.tolist() == again.tolist() == [3, 3]


def test_an_error_inside_a_call_with_gradients_is_the_students(student):
    """The exception keeps its kind on the way through autograd."""
    with pytest.raises(ValueError, match="width"):
        student("def f(x):\n    raise ValueError('width')")["f"](torch.ones(1, requires_grad=True))


def test_random_numbers_are_those_of_one_process(student):
    """torch.manual_seed in a test rules dropout and randn there, and what is drawn there moves the state on here."""
    theirs = student("def noisy(x):\n    return nn.functional.dropout(x, 0.5) + torch.randn(4)")
    torch.manual_seed(7)
    got = [torch.rand(1), theirs["noisy"](torch.ones(4)), torch.rand(1), theirs["noisy"](torch.ones(4))]
    torch.manual_seed(7)
    noisy = lambda: F.dropout(torch.ones(4), 0.5) + torch.randn(4)  # noqa: E731
    expected = [torch.rand(1), noisy(), torch.rand(1), noisy()]
    for ours, one in zip(got, expected, strict=True):
        assert torch.equal(ours, one)


def test_a_call_that_draws_nothing_leaves_the_random_state(student):
    """So that a test's own numbers do not depend on whether the student's function was called."""
    theirs = student("def f():\n    return 1")
    torch.manual_seed(3)
    theirs["f"]()
    got = torch.rand(2)
    torch.manual_seed(3)
    assert torch.equal(got, torch.rand(2))


def test_a_generator_travels_with_its_state(student):
    """A torch.Generator draws the same numbers there and stands where it stopped when it comes back."""
    theirs = student("def draw(generator, n):\n    return torch.rand(n, generator=generator)")
    here, there = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    for _ in range(2):
        assert torch.equal(theirs["draw"](there, n=3), torch.rand(3, generator=here))


def test_what_comes_back_may_be_changed_in_place(student):
    """A test may write into a result, with a gradient or without one."""
    theirs = student("def f(x):\n    return (x * 2).t()")
    x = torch.ones(2, 3, requires_grad=True)
    out = theirs["f"](x)
    out *= 3
    out.sum().backward()
    assert x.grad.unique().tolist() == [6]
    plain = theirs["f"](torch.ones(2, 3))
    plain += 1
    assert plain.unique().tolist() == [3]


def test_what_is_not_in_order_in_memory_is_not_there_either(student):
    """A `.view` that fails in a student's notebook fails in the test, on the way in and on the way out."""
    theirs = student("def view(x):\n    return x.view(6)\ndef turn(x):\n    return x.t()")
    with pytest.raises(RuntimeError, match="view size"):
        theirs["view"](torch.ones(2, 3).t().requires_grad_())
    with pytest.raises(RuntimeError, match="view size"):
        theirs["turn"](torch.ones(2, 3)).view(6)


def test_what_a_test_does_not_use_is_not_differentiated(student):
    """Of two results one may have no derivative, or an infinite one; it costs nothing where only the other is used."""
    both = student("def both(x):\n    return x * 3, torch.heaviside(x, torch.ones(())), (x - x).sqrt()")["both"]
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    both(x)[0].sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        both(x)[1].sum().backward()


def test_what_a_call_made_is_freed_with_its_last_name(student):
    """On neither side does it wait for a garbage collection: a test that trains would hold on to all of its steps."""
    theirs = student(
        "import gc\ngc.disable()\n"
        "def found():\n    return gc.collect()\n"
        "def both(items, more):\n    return [2 * item for item in items], more\n"
    )
    model = student("Net = nn.Linear")["Net"](3, 2)
    found, both = theirs["found"], theirs["both"]

    def calls():
        for x in torch.ones(3, 2, requires_grad=True):
            both([x, x], {"more": (1, slice(2))})[0][1].sum().backward()
            model(torch.ones(1, 3)).sum().backward()

    calls()
    found()
    gc.collect()
    gc.disable()
    try:
        calls()
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert found() == 0
