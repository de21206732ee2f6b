"""A module has the same weights, buffers, modes and parts on both sides, whichever side writes, and however."""

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

from grader.engine.sandbox.module_tracker import ModuleTracker


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
def test_a_weight_that_a_test_sets_counts_in_the_sandbox(pair, write):
    """However the test sets it, the student's module computes with it, before the first call and after one."""
    remote = pair[1]
    x = torch.tensor([[1.0, 2.0, 3.0]])
    for _ in range(2):
        write(remote.first)
        assert remote.first(x).tolist() == [[6.0] * 4]
        assert remote.weight_sum == 12
        nn.init.normal_(remote.first.weight)
        remote.first(x)


def test_a_weight_that_student_code_sets_counts_in_the_test(student):
    """However student code sets it: through `.data`, as new `.data`, or in place."""
    remote = student(
        "def make():\n    return nn.Linear(2, 1, bias=False)\n"
        "def start(layer):\n    layer.weight.data.fill_(5)\n"
        "def halve(layer):\n    layer.weight.data = layer.weight.data / 2\n"
        "def add(layer):\n    with torch.no_grad():\n        layer.weight += 1\n"
    )
    layer = remote["make"]()
    for function, expected in (("start", 5), ("halve", 2.5), ("add", 3.5)):
        remote[function](layer)
        assert layer.weight.tolist() == [[expected, expected]]
        assert layer(torch.ones(1, 2)) == 2 * expected


def test_modes_and_requires_grad_that_student_code_sets_count_in_the_test(student):
    """A student's freeze() and evaluate() change the module that the test sees."""
    remote = student(
        "def make():\n    return nn.Sequential(nn.Linear(1, 1), nn.Dropout())\n"
        "def freeze(model):\n    model[0].weight.requires_grad_(False)\n"
        "def evaluate(model):\n    model.eval()\n"
    )
    model = remote["make"]()
    remote["freeze"](model)
    assert [p.requires_grad for p in model.parameters()] == [False, True]
    remote["evaluate"](model)
    assert not model.training and not model[1].training
    model.train()
    assert torch.equal(remote["make"]().train()(torch.zeros(0, 1)), torch.zeros(0, 1)) and model.training


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


def test_a_students_own_train_or_eval_is_called(in_both):
    """A class may keep a flag, or a part in evaluation mode: that works as in one process, also in part of a model."""
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


def test_a_buffer_that_is_a_view_of_another_stays_one(in_both):
    """A write into the one shows in the other."""
    for names in in_both(VIEWS):
        module = names["Statistics"]()
        module.mean.fill_(1)
        assert torch.equal(module(torch.zeros(3)), torch.ones(3))


def test_a_deleted_module_is_forgotten(pair):
    """A test that makes fifty models does not send them all along with every later call."""
    client = pair[1]._remote.client
    assert len(client.modules) == 1
    del pair[1]
    assert len(client.modules) == 0


def test_a_global_model_that_student_code_trains_changes_in_the_test(student):
    """The test gets the new weights, though it did not pass the model to the student's train()."""
    remote = student("model = nn.Linear(1, 1)\ndef train():\n    nn.init.constant_(model.weight, 9.0)")
    model = remote["model"]
    remote["train"]()
    assert model.weight.item() == 9


def test_double_and_gradcheck(pair):
    """A module can be converted to double precision, and gradcheck accepts it."""
    remote = pair[1].double().eval()
    assert remote(torch.randn(2, 3, dtype=torch.float64)).dtype is torch.float64
    assert torch.autograd.gradcheck(remote, torch.randn(2, 3, dtype=torch.float64, requires_grad=True))


def test_a_deep_copy_is_a_module_of_its_own(pair):
    """It starts with the weights, modes and requires_grad of the original, and changes independently of it."""
    remote = pair[1].eval()
    remote.last.requires_grad_(False)
    nn.init.ones_(remote.first.weight)
    copied = copy.deepcopy(remote)
    x = torch.randn(5, 3)
    assert not copied.training and not copied.drop.training and not copied.last.weight.requires_grad
    assert torch.equal(copied(x), remote(x))
    nn.init.zeros_(copied.last.weight)
    assert not torch.equal(copied(x), remote(x))


def test_tied_weights_stay_tied(student):
    """An embedding that is the output layer as well is one parameter, and collects both gradients."""
    remote = student(
        "class Tied(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.embed, self.out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)\n"
        "        self.out.weight = self.embed.weight\n"
        "    def forward(self, x):\n        return self.out(self.embed(x))\n"
    )["Tied"]()
    assert remote.out.weight is remote.embed.weight and len(list(remote.parameters())) == 1
    nn.init.ones_(remote.embed.weight)
    assert remote(torch.tensor([1])).tolist() == [[3.0] * 5]
    remote(torch.tensor([1])).sum().backward()
    assert remote.embed.weight.grad.sum(1).tolist() == [3, 18, 3, 3, 3]


def test_modules_that_share_parameters_do_so_in_the_test(student):
    """A model made of an encoder trains that encoder: its parameters are the same objects, as in the sandbox."""
    remote = student(
        "class Model(nn.Module):\n    def __init__(self, encoder):\n        super().__init__()\n"
        "        self.encoder = encoder\n    def forward(self, x):\n        return self.encoder(x)\n"
        "def make():\n    return nn.Linear(2, 2)\n"
    )
    encoder = remote["make"]()
    model = remote["Model"](encoder)
    assert model.encoder.weight is encoder.weight
    model(torch.ones(1, 2)).sum().backward()
    assert encoder.weight.grad.tolist() == [[1, 1], [1, 1]] and encoder.bias.grad.tolist() == [1, 1]
    nn.init.zeros_(encoder.weight), nn.init.zeros_(model.encoder.bias)
    assert not model(torch.ones(1, 2)).any() and not encoder(torch.ones(1, 2)).any()


def test_buffers_that_are_not_saved_are_not_in_the_state_dict(student):
    """A table of positions that is registered with persistent=False is a buffer of the stand-in and is not saved."""
    model = student(
        "class Places(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('table', torch.arange(3.0), persistent=False)\n"
        "        self.register_buffer('none', None)\n    def forward(self, x):\n        return x + self.table\n"
    )["Places"]()
    assert model.table.tolist() == [0, 1, 2] and model.none is None
    assert not model.state_dict() and len(list(model.buffers())) == 1
    assert model.double()(torch.zeros(3, dtype=torch.float64)).dtype is torch.float64


@pytest.mark.slow
def test_a_module_class_is_freed():
    """A runner makes new classes for each misconception that it tries, and goes on for a whole class of students."""
    made = type("Made", (nn.Linear,), {})
    reference = weakref.ref(made)
    handle = ModuleTracker(lambda item: 0, lambda cls: None).describe(made(2, 3), lambda tensor: 0)
    assert [part.class_name for part in handle.parts] == ["Made"]
    del made
    gc.collect()
    assert reference() is None
