"""Whatever student code does to the arguments of a call happens to those of the test, as in one process."""

import pytest
import torch


def test_one_tensor_given_twice_is_one_tensor(student):
    """Self-attention is called as f(x, x): a write into the one shows in the other, as in one process."""
    remote = student("def same(q, k):\n    q += 1\n    return q is k, k")
    x = torch.zeros(2)
    same, k = remote["same"](x, x)
    assert same and k.tolist() == [1, 1] and x.tolist() == [1, 1]


@pytest.mark.parametrize(
    "write",
    ["x[0] = 7", "x.data[0] = 7", "x.detach()[0] = 7", "x.add_(7)", "x.numpy()[0] = 7", "x.data = x.data + 7"],
)
def test_a_write_into_an_argument_is_seen(student, write):
    """A test that checks whether its input was left alone gets the true answer, however student code writes."""
    remote = student(f"def spoil(x):\n    {write}\ndef leave(x):\n    x = x + 1")
    x = torch.zeros(3)
    remote["leave"](x)
    assert x.tolist() == [0, 0, 0]
    remote["spoil"](x)
    assert x[0] == 7


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("change", ["x.unsqueeze_(1)", "x.t_()", "x.resize_(3)"])
def test_a_new_shape_of_an_argument_is_seen(student, change, requires_grad):
    """The test's tensor gets the new shape too, as in one process; an unchanged tensor keeps its own."""
    remote = student(
        f"def turn(x):\n    with torch.no_grad():\n        {change}\ndef leave(x):\n    return x.unsqueeze(1)"
    )
    numbers = torch.arange(6.0).reshape(2, 3)
    x = numbers.clone().requires_grad_(requires_grad and "resize" not in change)
    remote["leave"](x)
    assert torch.equal(x, numbers)
    remote["turn"](x)
    local = {"x": numbers.clone()}
    exec(change, local)
    assert x.shape != numbers.shape and torch.equal(x, local["x"])


def test_a_new_dtype_of_an_argument_is_seen(student):
    """Memory of another dtype under a tensor of the test is found there, as in one process."""
    remote = student("def widen(x):\n    x.data = x.data.double()")
    for x in torch.ones(3), torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True) * 1:
        remote["widen"](x)
        assert x.dtype is torch.float64 and x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("write", ["with torch.no_grad():\n        x[0] = 7", "x.data[0] = 7", "x.data = x.data + 7"])
def test_a_write_into_an_argument_that_requires_grad_is_seen(student, write):
    """Whether the argument is a leaf or was computed from one."""
    remote = student(f"def spoil(x):\n    {write}\n    return x.sum()")
    leaf = torch.zeros(3, requires_grad=True)
    remote["spoil"](leaf)
    assert leaf[0] == 7
    computed = torch.zeros(3, requires_grad=True) * 2
    remote["spoil"](computed)
    assert computed[0] == 7


@pytest.mark.parametrize(
    ("write", "right"),
    [
        ("x.reverse()", [{"a": 1}, [2]]),
        ("x[0].append(3)", [[2, 3], {"a": 1}]),
        ("x[1]['b'] = (torch.zeros(1), 'c')", [[2], {"a": 1, "b": (torch.zeros(1), "c")}]),
        ("x[1].pop('a')", [[2], {}]),
        ("x.clear()", []),
        ("x[1]['a'] = 1", [[2], {"a": 1}]),
        ("x = [4]", [[2], {"a": 1}]),
    ],
)
def test_a_write_into_a_list_or_dict_is_seen(student, write, right):
    """Also into one inside of another: the test's own list and dict change, as in one process."""
    remote = student(f"import torch\ndef spoil(x, y=None):\n    {write}")
    for give in (
        lambda x: remote["spoil"](x),
        lambda x: remote["spoil"](y=0, x=x),
        lambda x: remote["spoil"]((x,)[0]),
    ):
        inner, names = [2], {"a": 1}
        outer = [inner, names]
        give(outer)
        assert outer == right
        assert inner == (right[0] if "append" in write else [2])
        assert names == (right[1] if "x[1]" in write else {"a": 1})


def test_tensors_in_a_list_keep_their_identity(student):
    """A list from which an item was removed still holds the very tensors of the test."""
    remote = student("def longest(x):\n    return max(x, key=len)\ndef drop(x):\n    x['b'].pop()")
    a, b = torch.ones(2), torch.ones(3)
    given = {"a": [a, b], "b": [a, b]}
    assert remote["longest"](given["a"]).shape == (3,)
    remote["drop"](given)
    assert given["a"][0] is a and given["a"][1] is b and len(given["b"]) == 1


def test_a_write_into_a_view_reaches_its_base(student):
    """A test that hands over a part of a larger tensor sees the write in the whole."""
    remote = student("def spoil(x):\n    x.zero_()")
    whole = torch.ones(4, 4)
    remote["spoil"](whole[1:3, ::2])
    assert whole.sum() == 12
