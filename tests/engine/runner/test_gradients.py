"""The `.grad` of a tensor is the same on both sides, whichever side sets, changes or clears it."""

import pytest
import torch

from grader.engine.rpc.gradients import put
from grader.engine.rpc.message import ProtocolError

STUDENT = """
def descend(parameters, rate=0.5):
    with torch.no_grad():
        for p in parameters:
            p -= rate * p.grad

def clip(parameters):
    for p in parameters:
        p.grad.clamp_(-1, 1)

def clear(parameters):
    for p in parameters:
        p.grad = None

def replace(parameters):
    for p in parameters:
        p.grad = 2 * p.grad

def learn(parameters):
    sum((p ** 3).sum() for p in parameters).backward()

def move(model):
    descend(model.parameters())

def forget(model):
    model.zero_grad()

def zeros(model):
    model.zero_grad(set_to_none=False)

def clip_norm(model):
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)

def train(model):
    model(torch.ones(2, 3)).square().sum().backward()

def trained():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    train(model)
    return model
"""


@pytest.fixture
def both(in_both):
    """The same functions in this process and in the sandbox."""
    return in_both(STUDENT)


def _parameters():
    """Two parameters that have a gradient, and one that has none yet."""
    a, b, c = (torch.tensor(numbers, requires_grad=True) for numbers in ([1.0, -2.0], [3.0], [0.5]))
    a.grad, b.grad = torch.tensor([0.5, -4.0]), torch.tensor([2.0])
    return a, b, c


def _assert_same(both, use, rtol=0.0, atol=0.0):
    """Assert that the tensors which `use` returns have the same values and gradients with the functions of both."""
    local, remote = ([(x.detach(), x.grad) for x in use(functions)] for functions in both)
    torch.testing.assert_close(remote, local, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    "names", [["descend"], ["clip"], ["clear"], ["replace"], ["clip", "descend", "clear", "learn"]]
)
def test_the_gradient_of_a_tensor_travels_with_it(both, names):
    """A step of gradient descent, clipping, clearing, doubling, and all of these in turn."""

    def use(functions):
        *parameters, _ = _parameters()
        for name in names:
            functions[name](parameters)
        return parameters

    _assert_same(both, use)


def test_backward_in_student_code_sets_the_gradients_of_the_test(both):
    """It adds to the gradients that are there, and sets the missing ones."""

    def use(functions):
        parameters = _parameters()
        functions["learn"](parameters)
        functions["learn"](parameters[2:])
        assert parameters[2].tolist() == [0.5] and parameters[2].grad.tolist() == [1.5]
        return parameters

    _assert_same(both, use)


def test_a_gradient_is_read_without_gradients_too(both):
    """A test may call the student's step under torch.no_grad()."""

    def use(functions):
        *parameters, _ = _parameters()
        with torch.no_grad():
            functions["descend"](parameters)
        return parameters

    _assert_same(both, use)


@pytest.mark.parametrize(
    "names",
    [["move"], ["train"], ["train", "move", "forget"], ["zeros"], ["forget", "train"], ["clip_norm", "move", "zeros"]],
)
def test_the_gradients_of_a_model_travel_with_it(both, names):
    """A student's step uses the gradients of the test's backward(), and the test sees those of the student's."""

    def use(functions):
        model = functions["trained"]()
        assert model.weight.grad is not None
        model(torch.ones(1, 3)).sum().backward()
        for name in names:
            functions[name](model)
        return model.parameters()

    _assert_same(both, use, rtol=1e-5, atol=1e-8)


def test_gradients_that_a_test_clears_or_sets_are_so_in_the_sandbox(both):
    """The student's functions add to none, or use the test's own."""
    remote = both[1]
    model = remote["trained"]()
    model.zero_grad()
    remote["train"](model)
    once = model.weight.grad.clone()
    remote["train"](model)
    assert torch.allclose(model.weight.grad, 2 * once)
    model.weight.grad = torch.ones(2, 3)
    before = model.weight.detach().clone()
    model.bias.grad = torch.zeros(2)
    remote["move"](model)
    assert torch.allclose(model.weight, before - 0.5)


def test_an_old_gradient_keeps_its_values(both):
    """A test may keep it and compare it with the next one."""
    model = both[1]["trained"]()
    before = model.weight.grad
    copy = before.clone()
    both[1]["train"](model)
    assert torch.equal(before, copy) and not torch.equal(before, model.weight.grad)


def test_a_sparse_gradient_stays_in_the_sandbox(student):
    """It does not cross, but the weights that it moves do."""
    remote = student(
        "def make():\n    return nn.Embedding(4, 2, sparse=True)\n"
        "def train(model):\n"
        "    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)\n"
        "    model(torch.tensor([1])).sum().backward()\n    optimiser.step()\n"
    )
    model = remote["make"]()
    before = model.weight.detach().clone()
    remote["train"](model)
    assert (before - model.weight).tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]] and model.weight.grad is None


@pytest.mark.parametrize("gradient", [torch.ones(3), torch.ones(2, dtype=torch.float64), 7, [1.0, 2.0]])
def test_a_gradient_that_does_not_fit_breaks_the_protocol(gradient):
    """Only a sandbox that makes its messages up sends one."""
    with pytest.raises(ProtocolError, match="shape and dtype"):
        put(torch.ones(2), gradient)
