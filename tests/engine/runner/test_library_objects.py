"""A test hands over objects of libraries: models, optimisers, loaders, tables. Student code gets copies."""

import copy
import pickle

import msgspec
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from grader.engine.rpc.library_objects import apply
from grader.engine.rpc.protocol import LibraryObject, ProtocolError
from grader.engine.rpc.values import unpack
from grader.engine.runner.standins.proxies import StudentError

STEP = """
def step(model, optimiser, x, y, loss_function=nn.functional.mse_loss):
    model.train()
    optimiser.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimiser.step()
    return loss.item()
"""
X, Y = torch.linspace(-1, 1, 12).reshape(6, 2), torch.arange(6.0)[:, None]


def step(model, optimiser, x, y, loss_function=nn.functional.mse_loss):
    """The same in this process."""
    names = {"nn": nn}
    exec(STEP, names)
    return names["step"](model, optimiser, x, y, loss_function)


def models():
    """Return models of torch's own layers."""
    torch.manual_seed(0)
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))
    tied[1].weight = tied[0].weight
    return {
        "linear": nn.Linear(2, 1),
        "normed": nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4, 1)),
        "tied": tied,
    }


OPTIMISERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.1),
}


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("model", models())
def test_a_model_is_trained(student, model, optimiser):
    """Weights, gradients, running averages and the state of the optimiser are those of one process, step by step."""
    remote = student(f"import torch\nfrom torch import nn\n{STEP}")
    ours, theirs = models()[model], models()[model]
    ours.eval(), theirs.eval()
    our_optimiser, their_optimiser = (OPTIMISERS[optimiser](each.parameters()) for each in (ours, theirs))
    for number in range(4):
        torch.manual_seed(number)
        expected = step(ours, our_optimiser, X, Y)
        torch.manual_seed(number)
        assert remote["step"](theirs, their_optimiser, X, Y) == pytest.approx(expected, rel=1e-5)
        assert theirs.training
    for (name, tensor), other in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
        assert torch.allclose(tensor, other, atol=1e-5), name
    for parameter, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(parameter.grad, other.grad, atol=1e-5)


def test_an_optimiser_of_the_students_model(student):
    """An optimiser of the test over parameters of the student's trains these very parameters."""
    remote = student(f"import torch\nfrom torch import nn\n{STEP}\ndef build():\n    return nn.Linear(2, 1)")
    model = remote["build"]()
    before = copy.deepcopy(model.state_dict())
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = [remote["step"](model, optimiser, X, Y) for _ in range(20)]
    assert losses[-1] < losses[0] / 2
    assert not torch.equal(model.weight, before["weight"])


def test_a_loader_is_read(student):
    """Its batches come in the order of the test's seed."""
    remote = student("def read(loader):\n    return [batch.tolist() for batch, in loader]")
    loader = DataLoader(TensorDataset(torch.arange(7)), batch_size=3, shuffle=True)
    torch.manual_seed(3)
    expected = [batch.tolist() for (batch,) in loader]
    torch.manual_seed(3)
    assert remote["read"](loader) == expected


def test_a_function_of_a_library_is_differentiated(student):
    """Student code gets the function itself, so that gradients flow through it."""
    remote = student("def loss(f, x, y):\n    return f(x, y)\ndef bend(f, x):\n    return f(x)")
    x = torch.ones(2, requires_grad=True)
    remote["loss"](nn.functional.mse_loss, x, torch.zeros(2)).backward()
    remote["bend"](torch.sin, x).sum().backward()
    assert torch.allclose(x.grad, 1 + torch.cos(torch.ones(2)))


def test_a_layer_becomes_a_part_of_a_module(student):
    """Given to a constructor, it is a submodule with its parameters."""
    remote = student(
        "from torch import nn\nclass Residual(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n    def forward(self, x):\n        return x + self.inner(x)"
    )
    inner = nn.Linear(2, 2)
    module = remote["Residual"](inner)
    assert [name for name, _ in module.named_parameters()] == ["inner.weight", "inner.bias"]
    assert torch.allclose(module(X), X + inner(X))


def test_one_object_is_one_copy(student):
    """In several arguments, and in lists; two equal objects are two."""
    remote = student("def same(a, b, rest):\n    return a is b, a is rest[0], a is rest[1]")
    layer = nn.ReLU()
    assert remote["same"](layer, layer, [layer, nn.ReLU()]) == (True, True, False)


def test_a_table_is_read(student):
    """Its text and numbers arrive."""
    pandas = pytest.importorskip("pandas")
    remote = student("def longest(frame):\n    return frame.loc[frame['n'].idxmax(), 'word']")
    assert remote["longest"](pandas.DataFrame({"word": ["a", "abc"], "n": [1, 3]})) == "abc"


@pytest.mark.parametrize("change", ["frame['m'] = 1", "frame.drop(0, inplace=True)", "frame.iloc[0, 0] = 9"])
def test_a_changed_table_is_no_silent_loss(student, change):
    """A change that the test could not see is an error that names the type."""
    pandas = pytest.importorskip("pandas")
    remote = student(f"def spoil(frame):\n    {change}\ndef read(frame):\n    frame = frame.assign(m=1)\n    return 1")
    frame = pandas.DataFrame({"n": [1, 3], "k": [1.0, 2.0]})
    assert remote["read"](frame) == 1
    with pytest.raises(StudentError, match="changed the DataFrame"):
        remote["spoil"](frame)


def test_what_the_test_defines_stays(student):
    """A function or module of the test's own is called back, as before; another object is refused."""
    remote = student("def call(f, x):\n    return f(x)\ndef take(x):\n    return 1")
    names = {"nn": nn, "__name__": "__main__"}
    exec(
        "class Double(nn.Module):\n    def forward(self, x):\n        return 2 * x\n"
        "class Plain:\n    pass\ncalls = []\ndef record(x):\n    calls.append(x)\n    return x",
        names,
    )
    assert remote["call"](names["Double"](), torch.ones(1)).item() == 2
    assert remote["call"](names["record"], 5) == 5 and names["calls"] == [5]
    assert remote["call"](names["calls"].append, 6) is None and names["calls"] == [5, 6]
    for item in names["Plain"](), [names["Plain"]()], memoryview(b""):
        with pytest.raises(TypeError, match="a test may pass"):
            remote["take"](item)


def test_a_sandbox_sends_no_pickle(student):
    """The runner unpickles nothing, whatever a reply names; only its own messages hold such an object."""
    client = student("").client
    handle = LibraryObject(number=0, data=pickle.dumps(print))
    with pytest.raises(ProtocolError, match="objects of its own"):
        unpack({"handle": msgspec.to_builtins(handle)}, [], client._resolve)


@pytest.mark.parametrize(
    ("item", "new_modes", "state"),
    [
        (nn.Linear(1, 1), [True, False], None),
        (nn.Linear(1, 1), [], {"weight": torch.ones(1, 1)}),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), [], {"state": 7}),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), [True], None),
        (nn.functional.relu, [], {}),
    ],
)
def test_a_forged_change_is_refused(item, new_modes, state):
    """A change that the object cannot have had breaks the protocol."""
    with pytest.raises(ProtocolError):
        apply(item, new_modes, state)
