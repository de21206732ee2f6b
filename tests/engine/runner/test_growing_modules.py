"""Layers, lazy parameters and buffers that come, change or go in a call do so in the test's stand-in too."""

import pytest
import torch
from torch import nn


def test_a_lazy_module_gets_its_weights_with_the_first_call(student):
    """nn.LazyLinear has no weight before its first input, and a weight of the right shape afterwards."""
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
@pytest.mark.parametrize("requires_grad", [False, True])
def test_parameters_made_in_a_call_have_the_gradients_of_that_call(in_both, name, requires_grad):
    """As in one process, whether or not the input requires a gradient; and they have those of the next call too."""
    results = []
    for names in in_both(MAKERS):
        torch.manual_seed(1)
        model, x = names[name](), torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]], requires_grad=requires_grad)
        once = model(x)
        once.square().sum().backward()
        first = [p.grad for p in model.parameters()]
        first = [None if g is None else g.clone() for g in first]
        model(x).sum().backward()
        results.append([once.detach(), x.grad, *first, *(p.grad for p in model.parameters())])
    for local, remote in zip(*results, strict=True):
        assert (local is None) == (remote is None)
        assert local is None or torch.allclose(local, remote)
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


def test_a_lazy_module_changes_its_class_with_the_first_call(student):
    """It stays the same object, inside another module or alone, and its buffers come with the call."""
    remote = student(LAZY)
    inside, alone = remote["Lazy"](), remote["alone"]()
    for model, norm in ((inside, inside.norm), (alone, alone)):
        assert repr(norm).startswith("Lazy") and "running_mean" not in dict(norm.named_buffers())
        model(torch.tensor([[1.0, 2.0, 4.0], [3.0, 2.0, 0.0]]))
        assert repr(norm).startswith("BatchNorm1d") and isinstance(norm, nn.BatchNorm1d)
        assert norm.weight.shape == norm.running_mean.shape == (3,) and norm.running_mean.any()
        assert norm in model.modules()


def test_a_buffer_appears_with_the_call_that_fills_it(student):
    """And disappears with the call that sets it to None."""
    remote = student(f"{LAZY}\ndef empty(model):\n    model.seen = None")
    model = remote["Lazy"]()
    assert model.seen is None
    model(torch.tensor([[1.0, 2.0], [3.0, 0.0]]))
    assert model.seen.tolist() == model.state_dict()["seen"].tolist() == [2, 1]
    remote["empty"](model)
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


def test_layers_made_in_the_first_call_appear_in_the_stand_in(student):
    """With their names, weights and modes. Earlier layers stay the same objects."""
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
    """From the second call on, with an optimiser that is made after the first call."""
    torch.manual_seed(0)
    model, x = student(GROWING)["Growing"](), torch.randn(5, 3)
    model(x)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    before = {name: value.clone() for name, value in model.named_parameters()}
    model(x)[:, 0].sum().backward()
    optimiser.step()
    assert len(before) == 7 and model.scale.grad is not None and model.last[1].weight.grad is not None
    assert not torch.equal(before["scale"], model.scale) and not torch.equal(before["last.1.bias"], model.last[1].bias)


def test_a_deleted_layer_disappears_from_the_stand_in(student):
    """With its names in the state_dict; another layer under the same name is another object."""
    remote = student(
        "def make():\n    return nn.ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Linear(2, 2)})\n"
        "def drop(model):\n    del model['a']\n"
        "def replace(model):\n    model['b'] = nn.Conv1d(1, 1, 3)\n"
    )
    model = remote["make"]()
    held, linear = model["a"], model["b"]
    remote["drop"](model)
    assert sorted(model.state_dict()) == ["b.bias", "b.weight"] and model["b"] is linear and held.weight.shape == (2, 2)
    remote["replace"](model)
    assert isinstance(model["b"], nn.Conv1d) and model["b"] is not linear and model["b"].weight.shape == (1, 1, 3)
