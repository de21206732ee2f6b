"""A test hands over objects of libraries: models, optimisers, loaders, tables. Student code gets copies."""

import copy
import pickle

import msgspec
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.copied_objects import apply
from grader.engine.rpc.objects.handles import LibraryObject
from grader.engine.rpc.objects.library_objects import Handed, parts_of
from grader.engine.rpc.values.trees import unpack
from grader.engine.runner.standins.errors import StudentError

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


@pytest.mark.parametrize(
    "change", ["frame['m'] = 1", "frame.index = ['a', 'b']", "del frame['n']", "frame.iloc[0, 0] = 9"]
)
def test_a_changed_table_comes_back(student, change):
    """In place, as in one process; a table that student code only read stays."""
    pandas = pytest.importorskip("pandas")
    remote = student(f"def change(frame):\n    {change}\ndef read(frame):\n    frame = frame.assign(m=1)\n    return 1")
    frame = pandas.DataFrame({"n": [1, 3], "k": [1.0, 2.0]})
    expected = frame.copy()
    assert remote["read"](frame) == 1
    pandas.testing.assert_frame_equal(frame, expected)
    exec(change, {"frame": expected})
    remote["change"](frame)
    pandas.testing.assert_frame_equal(frame, expected)


def test_a_table_changed_to_hold_objects_is_no_silent_loss(student):
    """A change that the test could not see is an error that names the type."""
    pandas = pytest.importorskip("pandas")
    remote = student("def spoil(frame):\n    frame['m'] = [object()] * 2")
    with pytest.raises(StudentError, match="changed the DataFrame"):
        remote["spoil"](pandas.DataFrame({"n": [1, 3]}))


def test_what_the_test_defines_stays(student):
    """A function or module of the test's own is called back; so is another object, for each of its operations."""
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
    for item in names["Plain"](), [names["Plain"]()], (number for number in [1]):
        assert remote["take"](item) == 1
    with pytest.raises(TypeError, match="a test may pass"):
        remote["take"](object())


CELL = """
from torch import nn
import torch

asked = 0
SECRET = "not in the module"

class Scaled(nn.Module):
    \"\"\"The answer is in this text.\"\"\"

    def __init__(self):
        super().__init__()
        self.factor, self.calls = nn.Parameter(torch.ones(1)), 0

    def forward(self, x):
        self.calls += 1  # a comment
        return self.factor * x

class Asked(Scaled):
    def forward(self, x):
        global asked
        asked += 1
        return self.factor * x

def counted(x):
    global asked
    asked += 1
    return x**2
"""


def cell():
    """Return the names of a cell of a test."""
    names = {"__name__": "__main__"}
    exec(CELL, names)
    return names


def test_only_the_code_of_a_definition_crosses():
    """Neither its text nor its file nor other names of the test."""
    handed = Handed()
    data = handed.handle(cell()["Scaled"](), lambda item: None, lambda tensor: 0).data
    assert b"factor" in data
    for hidden in b"SECRET", b"a comment", b"The answer", b"<string>", b"asked":
        assert hidden not in data


def test_code_that_binds_names_of_the_test_stays(student):
    """It is called back, with gradients; a module says that its parameters are not there."""
    remote = student(
        "import torch\nfrom torch import nn\ndef call(f, x):\n    return f(x)\n"
        "def slope(f, x):\n    x = x.clone().requires_grad_()\n    y = f(x).sum()\n"
        "    (first,) = torch.autograd.grad(y, x, create_graph=True)\n"
        "    return first.detach(), torch.autograd.grad(first.sum(), x)[0]\n"
        "def weights(model):\n    return len(list(model.parameters()))\n"
        "def wrapped(block):\n    return nn.Sequential(block, nn.ReLU())"
    )
    names = cell()
    x = torch.tensor([1.0, 3.0])
    first, second = remote["slope"](names["counted"], x)
    assert first.tolist() == [2, 6] and second.tolist() == [2, 2] and names["asked"] == 1
    model = names["Asked"]()
    assert remote["call"](model, x).tolist() == [1, 3] and names["asked"] == 2
    assert remote["wrapped"](model)(-x).tolist() == [0, 0] and names["asked"] == 3
    with pytest.raises(StudentError, match="do not reach"):
        remote["weights"](model)
    assert remote["weights"](names["Scaled"]()) == 1


def test_torch_func_is_refused_in_words(student):
    """Its tensors have no numbers that could cross."""
    remote = student("def cube(x):\n    return (x ** 3).sum()")
    for transform in torch.func.grad, torch.func.vmap, torch.func.jacrev:
        with pytest.raises(TypeError, match=r"torch\.func and vmap"):
            transform(lambda x: remote["cube"](x))(torch.ones(2, 2))


def test_a_sandbox_sends_no_pickle(student):
    """The runner unpickles nothing, whatever a reply names; only its own messages hold such an object."""
    client = student("").client
    handle = LibraryObject(number=0, data=pickle.dumps(print))
    with pytest.raises(ProtocolError, match="objects of its own"):
        unpack({"handle": msgspec.to_builtins(handle)}, [], client._resolve)


@pytest.mark.parametrize(
    ("item", "change"),
    [
        (nn.Linear(1, 1), ["modes", [True, False]]),
        (nn.Linear(1, 1), ["state", {"weight": torch.ones(1, 1)}]),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), ["state", {"state": 7}]),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), ["modes", [True]]),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), ["file", b"", 0]),
        (nn.functional.relu, ["state", {}]),
        (nn.Linear(1, 1), ["attribute", 0, "forward", 1]),
        (nn.Linear(1, 1), ["attribute", 0, "weight", torch.ones(1)]),
        (nn.Linear(1, 1), ["attribute", 0, "__class__", 1]),
        (nn.Linear(1, 1), ["attribute", 0, "_forward_hooks", {}]),
        (nn.Linear(1, 1), ["attribute", 1, "n", 1]),
        (nn.Linear(1, 1), ["module", 0, "state_dict", nn.ReLU()]),
        (nn.Linear(1, 1), ["module", 0, "act", 7]),
        (nn.Linear(1, 1), ["tensor", 0, "_parameters", "weight", 3]),
        (nn.Linear(1, 1), ["tensor", 0, "__dict__", "weight", torch.ones(1), True]),
        (nn.Linear(1, 1), ["removed", 0, "__dict__", "weight"]),
        (nn.Linear(1, 1), ["removed", 0, "", "_parameters"]),
        (nn.Linear(1, 1), ["order", 0, "_parameters", ["weight"]]),
        (nn.Linear(1, 1), ["order", 0, "", list(vars(nn.Linear(1, 1)))]),
        (nn.Linear(1, 1), ["shape", 0]),
        (nn.Linear(1, 1), 7),
    ],
)
def test_a_forged_change_is_refused(item, change):
    """A change that the object cannot have had breaks the protocol."""
    with pytest.raises(ProtocolError):
        apply((item, parts_of(item)), [change], [])
