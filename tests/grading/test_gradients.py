"""What lies in the `grad` of tensors is the same here and there, whoever put it there, changed it or took it away."""

import pytest
import torch

from course.grading.gradients import put
from course.grading.wire import WireError

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
    """The same functions here and there."""
    return in_both(STUDENT)


def _parameters():
    """Two that hold a gradient, and one that does not yet."""
    a, b, c = (torch.tensor(numbers, requires_grad=True) for numbers in ([1.0, -2.0], [3.0], [0.5]))
    a.grad, b.grad = torch.tensor([0.5, -4.0]), torch.tensor([2.0])
    return a, b, c


def _assert_same(both, use, rtol=0.0, atol=0.0):
    """What `use` of the functions returns has the same numbers and gradients, whether they are here or there."""
    here, there = ([(x.detach(), x.grad) for x in use(functions)] for functions in both)
    torch.testing.assert_close(there, here, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    "names", [["descend"], ["clip"], ["clear"], ["replace"], ["clip", "descend", "clear", "learn"]]
)
def test_the_gradient_of_a_tensor_travels_with_it(both, names):
    """A step of gradient descent, clipping, clearing, doubling, and all of it in turn."""

    def use(functions):
        *held, _ = _parameters()
        for name in names:
            functions[name](held)
        return held

    _assert_same(both, use)


def test_what_student_code_differentiates_lies_in_the_tests_tensor(both):
    """backward() in a student's function adds to what is there, and puts a gradient where there is none."""

    def use(functions):
        held = _parameters()
        functions["learn"](held)
        functions["learn"](held[2:])
        assert held[2].tolist() == [0.5] and held[2].grad.tolist() == [1.5]
        return held

    _assert_same(both, use)


def test_a_gradient_is_read_without_gradients_too(both):
    """Under torch.no_grad() a test may ask for the step."""

    def use(functions):
        *held, _ = _parameters()
        with torch.no_grad():
            functions["descend"](held)
        return held

    _assert_same(both, use)


@pytest.mark.parametrize(
    "names",
    [["move"], ["train"], ["train", "move", "forget"], ["zeros"], ["forget", "train"], ["clip_norm", "move", "zeros"]],
)
def test_the_gradients_of_a_model_travel_with_it(both, names):
    """What a test's backward() left a student's step uses; what the student's left is there for the test."""

    def use(functions):
        model = functions["trained"]()
        assert model.weight.grad is not None
        model(torch.ones(1, 3)).sum().backward()
        for name in names:
            functions[name](model)
        return model.parameters()

    _assert_same(both, use, rtol=1e-5, atol=1e-8)


def test_gradients_cleared_here_are_cleared_there(both):
    """And one that the test has put there itself counts."""
    model = both[1]["trained"]()
    model.zero_grad()
    both[1]["train"](model)
    once = model.weight.grad.clone()
    both[1]["train"](model)
    assert torch.allclose(model.weight.grad, 2 * once)
    model.weight.grad = torch.ones(2, 3)
    before = model.weight.detach().clone()
    model.bias.grad = torch.zeros(2)
    both[1]["move"](model)
    assert torch.allclose(model.weight, before - 0.5)


def test_an_old_gradient_stays_what_it_was(both):
    """A test that kept it compares it with the next one."""
    model = both[1]["trained"]()
    before = model.weight.grad
    copy = before.clone()
    both[1]["train"](model)
    assert torch.equal(before, copy) and not torch.equal(before, model.weight.grad)


def test_a_sparse_gradient_stays_where_it_is(student):
    """It does not cross; the weights that it moves do."""
    theirs = student(
        "def make():\n    return nn.Embedding(4, 2, sparse=True)\n"
        "def train(model):\n"
        "    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)\n"
        "    model(torch.tensor([1])).sum().backward()\n    optimiser.step()\n"
    )
    model = theirs["make"]()
    before = model.weight.detach().clone()
    theirs["train"](model)
    assert (before - model.weight).tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]] and model.weight.grad is None


@pytest.mark.parametrize("gradient", [torch.ones(3), torch.ones(2, dtype=torch.float64), 7, [1.0, 2.0]])
def test_a_gradient_that_does_not_fit_breaks_the_wire(gradient):
    """Only a candidate that makes its messages up names one."""
    with pytest.raises(WireError, match="shape and dtype"):
        put(torch.ones(2), gradient)
