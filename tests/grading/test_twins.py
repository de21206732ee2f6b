"""What a module is made of is the same here and there, whoever writes into it, and however."""

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

from course.grading.twins import Twins


def _load(layer):
    layer.load_state_dict({"weight": torch.ones(4, 3), "bias": torch.zeros(4)})


def _copy(layer):
    with torch.no_grad():
        layer.weight.copy_(torch.ones(4, 3))
        layer.bias.mul_(0)


def _initialise(layer):
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)


def _fill_data(layer):
    layer.weight.data.fill_(1)
    layer.bias.data[:] = 0


def _set_data(layer):
    layer.weight.data, layer.bias.data = torch.ones(4, 3), torch.zeros(4)


def _set_parameters(layer):
    layer.weight, layer.bias = nn.Parameter(torch.ones(4, 3)), nn.Parameter(torch.zeros(4))


@pytest.mark.parametrize("write", [_load, _copy, _initialise, _fill_data, _set_data, _set_parameters])
def test_a_weight_written_here_counts_there(pair, write):
    """However a test sets a weight, the student's module computes with it, before the first call and after one."""
    theirs = pair[1]
    x = torch.tensor([[1.0, 2.0, 3.0]])
    for _ in range(2):
        write(theirs.first)
        assert theirs.first(x).tolist() == [[6.0] * 4]
        assert theirs.weight_sum == 12
        nn.init.normal_(theirs.first.weight)
        theirs.first(x)


def test_a_weight_written_there_counts_here(student):
    """However the student's code sets a weight (in a call, via .data, in a method, with a step of its own)."""
    theirs = student(
        "def make():\n    return nn.Linear(2, 1, bias=False)\n"
        "def start(layer):\n    layer.weight.data.fill_(5)\n"
        "def halve(layer):\n    layer.weight.data = layer.weight.data / 2\n"
        "def add(layer):\n    with torch.no_grad():\n        layer.weight += 1\n"
    )
    layer = theirs["make"]()
    for function, expected in (("start", 5), ("halve", 2.5), ("add", 3.5)):
        theirs[function](layer)
        assert layer.weight.tolist() == [[expected, expected]]
        assert layer(torch.ones(1, 2)) == 2 * expected


def test_modes_and_wishes_set_there_count_here(student):
    """A student's freeze() and evaluate() change the module that the test sees."""
    theirs = student(
        "def make():\n    return nn.Sequential(nn.Linear(1, 1), nn.Dropout())\n"
        "def freeze(model):\n    model[0].weight.requires_grad_(False)\n"
        "def evaluate(model):\n    model.eval()\n"
    )
    model = theirs["make"]()
    theirs["freeze"](model)
    assert [p.requires_grad for p in model.parameters()] == [False, True]
    theirs["evaluate"](model)
    assert not model.training and not model[1].training
    model.train()
    assert torch.equal(theirs["make"]().train()(torch.zeros(0, 1)), torch.zeros(0, 1)) and model.training


def test_a_dropped_module_is_forgotten(pair):
    """A test that makes fifty models does not carry them all through every later call."""
    client = pair[1]._remote.client
    assert len(client.modules) == 1
    del pair[1]
    assert len(client.modules) == 0


def test_a_model_trained_behind_the_tests_back_is_seen_trained(student):
    """A student's train() that works on a global model changes that model here too."""
    theirs = student("model = nn.Linear(1, 1)\ndef train():\n    nn.init.constant_(model.weight, 9.0)")
    model = theirs["model"]
    theirs["train"]()
    assert model.weight.item() == 9


def test_double_and_gradcheck(pair):
    """A module can be made one of doubles, and its gradient checked with small differences."""
    theirs = pair[1].double().eval()
    assert theirs(torch.randn(2, 3, dtype=torch.float64)).dtype is torch.float64
    assert torch.autograd.gradcheck(theirs, torch.randn(2, 3, dtype=torch.float64, requires_grad=True))


def test_a_deep_copy_is_its_own_module(pair):
    """With the weights, modes and wishes for gradients of the original as they are now, and a life of its own."""
    theirs = pair[1].eval()
    theirs.last.requires_grad_(False)
    nn.init.ones_(theirs.first.weight)
    twin = copy.deepcopy(theirs)
    x = torch.randn(5, 3)
    assert not twin.training and not twin.drop.training and not twin.last.weight.requires_grad
    assert torch.equal(twin(x), theirs(x))
    nn.init.zeros_(twin.last.weight)
    assert not torch.equal(twin(x), theirs(x))


def test_tied_weights_stay_tied(student):
    """An embedding that is the output layer too is one parameter, and collects both gradients."""
    theirs = student(
        "class Tied(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.embed, self.out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)\n"
        "        self.out.weight = self.embed.weight\n"
        "    def forward(self, x):\n        return self.out(self.embed(x))\n"
    )["Tied"]()
    assert theirs.out.weight is theirs.embed.weight and len(list(theirs.parameters())) == 1
    nn.init.ones_(theirs.embed.weight)
    assert theirs(torch.tensor([1])).tolist() == [[3.0] * 5]
    theirs(torch.tensor([1])).sum().backward()
    assert theirs.embed.weight.grad.sum(1).tolist() == [3, 18, 3, 3, 3]


def test_modules_share_what_they_share(student):
    """A model made of an encoder trains that encoder: its parameters are the same objects, here as there."""
    theirs = student(
        "class Model(nn.Module):\n    def __init__(self, encoder):\n        super().__init__()\n"
        "        self.encoder = encoder\n    def forward(self, x):\n        return self.encoder(x)\n"
        "def make():\n    return nn.Linear(2, 2)\n"
    )
    encoder = theirs["make"]()
    model = theirs["Model"](encoder)
    assert model.encoder.weight is encoder.weight
    model(torch.ones(1, 2)).sum().backward()
    assert encoder.weight.grad.tolist() == [[1, 1], [1, 1]] and encoder.bias.grad.tolist() == [1, 1]
    nn.init.zeros_(encoder.weight), nn.init.zeros_(model.encoder.bias)
    assert not model(torch.ones(1, 2)).any() and not encoder(torch.ones(1, 2)).any()


def test_buffers_that_are_not_saved_are_not_in_the_state_dict(student):
    """A table of positions registered with persistent=False is a buffer here, and not saved."""
    model = student(
        "class Places(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('table', torch.arange(3.0), persistent=False)\n"
        "        self.register_buffer('none', None)\n    def forward(self, x):\n        return x + self.table\n"
    )["Places"]()
    assert model.table.tolist() == [0, 1, 2] and model.none is None
    assert not model.state_dict() and len(list(model.buffers())) == 1
    assert model.double()(torch.zeros(3, dtype=torch.float64)).dtype is torch.float64


def test_a_lazy_module_gets_its_weights_with_the_first_call(student):
    """nn.LazyLinear has no weight before it has seen an input, and a full one afterwards."""
    model = student("def make():\n    return nn.Sequential(nn.LazyLinear(4), nn.ReLU())")["make"]()
    assert model(torch.ones(2, 3)).shape == (2, 4)
    assert model[0].weight.shape == (4, 3)
    model(torch.ones(2, 3)).sum().backward()
    assert model[0].bias.grad is not None


MAKERS = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = None

    def forward(self, x):
        if self.layer is None:
            self.layer = nn.Linear(x.shape[-1], 2)
        return self.layer(x)

class Scaled(Plain):
    def __init__(self):
        super().__init__()
        self.scale, self.table = nn.Parameter(torch.ones(3)), None

    def forward(self, x):
        if self.table is None:
            self.table = nn.Parameter(torch.arange(3.0))
            self.more = [nn.Linear(1, 1)]
        return super().forward(x * self.scale + self.table)

class Frozen(Plain):
    def forward(self, x):
        super().forward(x)
        self.layer.bias.requires_grad_(False)
        return super().forward(x)

def Torchs():
    return nn.Sequential(nn.Linear(3, 4), nn.LazyBatchNorm1d(), nn.LazyLinear(2))
"""


@pytest.mark.parametrize("name", ["Plain", "Scaled", "Frozen", "Torchs"])
@pytest.mark.parametrize("wants", [False, True])
def test_what_a_call_makes_has_the_gradients_of_that_call(student, name, wants):
    """As in one process, whether or not anything else collects gradients; and those of the next call besides."""
    here, results = {"torch": torch, "nn": nn}, []
    exec(MAKERS, here)
    for make in (here[name], student(MAKERS)[name]):
        torch.manual_seed(1)
        model, x = make(), torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]], requires_grad=wants)
        once = model(x)
        once.square().sum().backward()
        first = [p.grad for p in model.parameters()]
        first = [None if g is None else g.clone() for g in first]
        model(x).sum().backward()
        results.append([once.detach(), x.grad, *first, *(p.grad for p in model.parameters())])
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or torch.allclose(ours, theirs)
    assert any(part is not None for part in results[1][2:])


LAZY = """
class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LazyBatchNorm1d()
        self.register_buffer("seen", None)

    def forward(self, x):
        self.seen = x.detach().mean(0)
        return self.norm(x)


def alone():
    return nn.LazyBatchNorm1d()
"""


def test_a_lazy_module_is_of_another_class_after_its_first_call(student):
    """It stays the same object all the same, inside another or alone; its buffers come with the call as well."""
    theirs = student(LAZY)
    inside, alone = theirs["Lazy"](), theirs["alone"]()
    for model, norm in ((inside, inside.norm), (alone, alone)):
        assert repr(norm).startswith("Lazy") and "running_mean" not in dict(norm.named_buffers())
        model(torch.tensor([[1.0, 2.0, 4.0], [3.0, 2.0, 0.0]]))
        assert repr(norm).startswith("BatchNorm1d") and isinstance(norm, nn.BatchNorm1d)
        assert norm.weight.shape == norm.running_mean.shape == (3,) and norm.running_mean.any()
        assert norm in model.modules()


def test_a_buffer_that_was_none_comes_up_with_the_call_that_fills_it(student):
    """And goes with the one that empties it."""
    theirs = student(f"{LAZY}\ndef empty(model):\n    model.seen = None")
    model = theirs["Lazy"]()
    assert model.seen is None
    model(torch.tensor([[1.0, 2.0], [3.0, 0.0]]))
    assert model.seen.tolist() == model.state_dict()["seen"].tolist() == [2, 1]
    theirs["empty"](model)
    assert model.seen is None and "seen" not in model.state_dict()


GROWING = """
class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.last = None

    def forward(self, x):
        hidden = self.first(x)
        if self.last is None:
            self.last = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
            self.scale = nn.Parameter(torch.ones(2))
            self.register_buffer("calls", torch.zeros(()))
        self.calls += 1
        return self.scale * self.last(hidden)
"""


def test_layers_made_in_the_first_call_are_there_afterwards(student):
    """With their names, weights and modes; what was there before stays the same object."""
    torch.manual_seed(0)
    model, x = student(GROWING)["Growing"](), torch.randn(5, 3)
    first, weight = model.first, model.first.weight
    before = model(x)
    assert model.first is first and model.first.weight is weight
    assert sorted(model.state_dict()) == sorted(
        ["first.weight", "first.bias", "scale", "calls", "last.1.weight", "last.1.bias"]
        + [f"last.0.{name}" for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")]
    )
    assert isinstance(model.last[1], nn.Linear) and model.calls == 1 and model.last[0].training
    assert torch.equal(model(x), before)
    model.eval()
    assert not model.last[0].training and not torch.equal(model(x), before) and model.calls == 3
    with torch.no_grad():
        model.scale.zero_()
    assert model(x).eq(0).all()


def test_layers_made_in_the_first_call_learn(student):
    """From the second call on, with an optimiser that is made after the first."""
    torch.manual_seed(0)
    model, x = student(GROWING)["Growing"](), torch.randn(5, 3)
    model(x)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    before = {name: value.clone() for name, value in model.named_parameters()}
    model(x)[:, 0].sum().backward()
    optimiser.step()
    assert len(before) == 7 and model.scale.grad is not None and model.last[1].weight.grad is not None
    assert not torch.equal(before["scale"], model.scale) and not torch.equal(before["last.1.bias"], model.last[1].bias)


def test_a_layer_that_is_thrown_away_is_gone_here(student):
    """Its names go, and another layer under the same name is another one."""
    theirs = student(
        "def make():\n    return nn.ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Linear(2, 2)})\n"
        "def drop(model):\n    del model['a']\n"
        "def replace(model):\n    model['b'] = nn.Conv1d(1, 1, 3)\n"
    )
    model = theirs["make"]()
    held, linear = model["a"], model["b"]
    theirs["drop"](model)
    assert sorted(model.state_dict()) == ["b.bias", "b.weight"] and model["b"] is linear and held.weight.shape == (2, 2)
    theirs["replace"](model)
    assert isinstance(model["b"], nn.Conv1d) and model["b"] is not linear and model["b"].weight.shape == (1, 1, 3)


def test_a_class_of_modules_is_let_go():
    """An examiner that tries mistakes makes a new class for each, and works on for a whole class of students."""
    made = type("Made", (nn.Linear,), {})
    left = weakref.ref(made)
    Twins(id).anatomy(made(2, 3))
    del made
    gc.collect()
    assert left() is None
