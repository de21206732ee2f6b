"""A test hands over objects of libraries: models, optimisers, loaders, tables. Student code gets copies."""

import pickle

import msgspec
import pytest
import torch
from torch import nn

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.copied_objects import apply
from grader.engine.rpc.objects.handles import LibraryObject
from grader.engine.rpc.objects.library_objects import Handed, parts_of
from grader.engine.rpc.values.trees import unpack
from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same

STEP = """
def step(model, optimiser, x, y, loss_function=nn.functional.mse_loss):
    model.train()
    optimiser.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimiser.step()
    return loss.item()
"""


RESIDUAL = """
class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)
"""
MODELS = {
    "linear": "nn.Linear(2, 1)",
    "normed": "nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4, 1))",
    "tied": "nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))\nmodel[1].weight = model[0].weight",
}
OPTIMISERS = {
    "sgd": "SGD(model.parameters(), lr=0.1)",
    "momentum": "SGD(model.parameters(), lr=0.1, momentum=0.9)",
    "adam": "Adam(model.parameters(), lr=0.1)",
}
TRAIN = """
x, y = torch.linspace(-1, 1, 12).reshape(6, 2), torch.arange(6.0)[:, None]
model.eval()
losses, state = [step(model, optimiser, x, y) for _ in range(4)], optimiser.state_dict()
"""
USES = {
    f"{model}, {optimiser}": f"model = {MODELS[model]}\noptimiser = torch.optim.{OPTIMISERS[optimiser]}\n{TRAIN}"
    for model in MODELS
    for optimiser in OPTIMISERS
} | {
    "an optimiser of the student's model": """
        model, x, y = get("nn.Linear(2, 1)"), torch.linspace(-1, 1, 12).reshape(6, 2), torch.arange(6.0)[:, None]
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = [step(model, optimiser, x, y) for _ in range(20)]
        assert losses[-1] < losses[0] / 2
    """,
    "a loader": """
        from torch.utils.data import DataLoader, TensorDataset
        loader = DataLoader(TensorDataset(torch.arange(7)), batch_size=3, shuffle=True)
        batches = get("[batch.tolist() for batch, in x]", loader)
    """,
    "functions that are differentiated": """
        x = torch.ones(2, requires_grad=True)
        get("x[0](x[1], x[2])", nn.functional.mse_loss, x, torch.zeros(2)).backward()
        get("x[0](x[1])", torch.sin, x).sum().backward()
    """,
    "a layer that becomes a part of a module": """
        inner = nn.Linear(2, 2)
        module = Residual(inner)
        made = module(torch.ones(3, 2))
    """,
    "one layer twice": """
        layer = nn.ReLU()
        same = get("(x[0] is x[1], x[0] is x[2][0], x[0] is x[2][1])", layer, layer, [layer, nn.ReLU()])
    """,
}


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_an_object_of_a_library_is_used_as_in_one_process(student, test):
    """Weights, gradients, averages and states of optimisers are the same after each step; so are loaders and layers."""
    assert_same(student, STEP + RESIDUAL, test)


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
