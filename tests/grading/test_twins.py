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


MODES = """
class Flagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.learning = True

    def train(self, mode=True):
        self.learning = mode
        return super().train(mode)

    def forward(self, x):
        return x * (2 if self.learning else 1)

class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.part = nn.BatchNorm1d(1), Flagged()

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        return self.part(x)

class Quiet(nn.Module):
    def eval(self):
        self.is_quiet = True
        return super().eval()

    def forward(self, x):
        return x * (1 if hasattr(self, "is_quiet") else 2)
"""


def test_a_train_or_eval_of_ones_own_is_called(in_both):
    """Whoever keeps a flag of their own, or a part in evaluation, does so as in one process, in part of a model too."""
    for names in in_both(MODES):
        x = torch.ones(1)
        flagged, frozen, quiet = names["Flagged"](), names["Frozen"](), names["Quiet"]()
        assert flagged(x) == 2 and flagged.eval()(x) == 1 and not flagged.training and flagged.train()(x) == 2
        assert frozen.train() is frozen and frozen.training and not frozen.norm.training and frozen(x) == 2
        assert frozen.eval()(x) == 1 and not frozen.part.training
        assert quiet(x) == 2 and quiet.eval()(x) == 1 and not quiet.training


VIEWS = """
class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("both", torch.zeros(2, 3))
        self.register_buffer("mean", self.both[0])

    def forward(self, x):
        return x + self.both.sum(0)
"""


def test_a_buffer_that_is_part_of_another_stays_part_of_it(in_both):
    """What is written into the one is found in the other."""
    for names in in_both(VIEWS):
        module = names["Statistics"]()
        module.mean.fill_(1)
        assert torch.equal(module(torch.zeros(3)), torch.ones(3))


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


def test_a_class_of_modules_is_let_go():
    """An examiner that tries mistakes makes a new class for each, and works on for a whole class of students."""
    made = type("Made", (nn.Linear,), {})
    left = weakref.ref(made)
    Twins(id).anatomy(made(2, 3))
    del made
    gc.collect()
    assert left() is None
