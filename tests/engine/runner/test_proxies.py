"""A student's module looks to a test like an nn.Module in its own process."""

import pytest
import torch
from torch import nn

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import ModuleHandle, PartDescription
from grader.engine.runner.standins.module_state import module_from


def test_a_module_has_the_same_parts_and_names(pair):
    """Parameters, buffers, submodules, state_dict and repr match those of the student's module."""
    local, remote = pair
    assert isinstance(remote, nn.Module)
    assert list(remote.state_dict()) == list(local.state_dict())
    assert all(torch.equal(value, remote.state_dict()[name]) for name, value in local.state_dict().items())
    assert [name for name, _ in remote.named_parameters()] == [name for name, _ in local.named_parameters()]
    assert [name for name, _ in remote.named_buffers()] == [name for name, _ in local.named_buffers()]
    assert [name for name, _ in remote.named_modules()] == [name for name, _ in local.named_modules()]
    assert sum(p.numel() for p in remote.parameters()) == sum(p.numel() for p in local.parameters())
    assert "Linear" in repr(remote) and remote.first.weight.shape == (4, 3)


def test_layers_of_torch_keep_their_class(pair):
    """A test may count the nn.Linear layers of a model or initialise the weights of each."""
    local, remote = pair
    for kind in (nn.Linear, nn.Dropout, nn.BatchNorm1d):
        assert sum(isinstance(m, kind) for m in remote.modules()) == sum(isinstance(m, kind) for m in local.modules())
    assert not isinstance(remote, nn.Linear)


def test_attributes_are_read_and_written(pair):
    """Reading fetches plain attributes, and setting one changes the student's module, including the p of a dropout."""
    remote = pair[1]
    assert remote.width == 3 and remote.drop.p == 0.5 and remote.first.in_features == 3
    assert not hasattr(remote, "missing")
    remote.drop.p = 0.0
    remote.norm = remote.norm.eval()
    x = torch.randn(5, 3)
    assert torch.equal(remote(x), remote(x))
    assert remote.calls == 2


def test_forward_and_methods_and_parts_compute_the_same(pair):
    """The module, its methods and its submodules can each be called."""
    local, remote = (module.eval() for module in pair)
    x = torch.randn(5, 3)
    assert torch.equal(remote(x), local(x)) and torch.equal(remote.forward(x), local(x))
    assert torch.equal(remote.double_of(x), local.double_of(x))
    assert torch.equal(remote.first(x), local.first(x))


def test_training_gives_the_same_weights(pair):
    """Ten steps of Adam with dropout and batch norm agree to the last bit; running statistics come back."""
    for module in pair:
        torch.manual_seed(2)
        optimiser = torch.optim.Adam(module.parameters(), lr=0.1)
        for _ in range(10):
            optimiser.zero_grad()
            module(torch.randn(8, 3)).square().sum().backward()
            optimiser.step()
    local, remote = (module.state_dict() for module in pair)
    assert all(torch.equal(local[name], remote[name]) for name in local)
    assert remote["norm.num_batches_tracked"] == 10 and remote["norm.running_mean"].abs().sum() > 0


def test_train_and_eval_reach_the_sandbox(pair):
    """eval() of a module or a part switches its dropout off; train() switches it on."""
    remote = pair[1]
    x = torch.ones(6, 3)
    remote.eval()
    assert torch.equal(remote(x), remote(x))
    remote.drop.train()
    assert not torch.equal(remote(x), remote(x))


def test_a_part_with_two_names_is_one_part(student):
    """A student may use one network for two purposes: both names lead to the same module and the same weights."""
    source = """
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 2))
        self.decoder = self.encoder
    def forward(self, x):
        return self.decoder(x)
"""
    model = student(source)["Pair"]()
    assert model.encoder is model.decoder and model.decoder[0].weight is model.encoder[0].weight
    assert {"encoder.0.weight", "decoder.0.weight"} < set(model.state_dict())
    with torch.no_grad():
        model.encoder[0].weight.copy_(torch.eye(2))
        model.encoder[0].bias.zero_()
    assert torch.equal(model(torch.ones(1, 2)), torch.ones(1, 2))


def test_a_buffer_may_come_to_require_a_gradient(student):
    """A running mean that is never detached is the student's mistake, and must not break the grader."""
    source = """
class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("kept", torch.zeros(2))
    def forward(self, x):
        self.kept = self.kept + x * self.weight
        return self.kept
"""
    model = student(source)["Keeps"]()
    for times in (1, 2, 3):
        assert torch.equal(model(torch.ones(2)).detach(), times * torch.ones(2))


def test_a_module_of_the_test_cannot_replace_a_part(pair):
    """It would exist in the runner only, so the assignment fails at once: the test must not judge a model like that."""
    with pytest.raises(TypeError, match="'drop'"):
        pair[1].drop = nn.Identity()


def test_gradients_of_parameters_are_those_of_one_process(pair):
    """backward() fills the .grad of every parameter that requires one, and of no other."""
    x = torch.randn(5, 3)
    for module in pair:
        module.eval()
        module.last.requires_grad_(False)
        module(x).sum().backward()
    local, remote = pair
    assert remote.last.weight.grad is None
    assert torch.equal(remote.first.weight.grad, local.first.weight.grad)
    for parameter in remote.parameters():
        parameter.requires_grad_(False)
    assert not remote(x).requires_grad


def test_lists_of_modules_and_parameters(student):
    """Items by index from either end, length and iteration; their parameters are those of the model."""
    model = student(
        "class Stack(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))\n"
        "        self.scales = nn.ParameterList(torch.full((1,), float(n)) for n in range(2))\n"
        "        self.named = nn.ModuleDict({'a': nn.ReLU()})\n"
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
    )["Stack"]()
    assert len(model.layers) == 3 and model.layers[-1] is model.layers[2] and len(list(model.layers)) == 3
    assert len(model.scales) == 2 and model.scales[1].item() == 1
    assert "a" in model.named and list(model.named) == ["a"] and isinstance(model.named["a"], nn.ReLU)
    assert model and model.named["a"]
    model(torch.ones(1, 2)).sum().backward()
    assert all(layer.weight.grad is not None for layer in model.layers)


def test_no_method_of_a_students_class_replaces_one_of_tensors(student):
    """A test that calls `sum` on a result means a tensor's; a student's object with such a method is refused."""
    liar = student(
        "class Liar:\n"
        "    shape = (2, 3)\n"
        "    def sum(self, *a): return torch.ones(2)\n"
        "    def encode(self): return 7\n"
        "def weights(): return Liar()"
    )
    result = liar["weights"]()
    assert result.encode() == 7
    with pytest.raises(TypeError, match=r"needs a tensor with a method \.sum"):
        result.sum(-1)


def test_no_module_replaces_a_method_of_tensors(student):
    """Not even a part called `isfinite`: of tensor methods, only those lead to a part that are names of layers."""
    cell = """
class Yes(nn.Module):
    def forward(self, *a): return torch.tensor(True)

class Liar(nn.Module):
    def __init__(self):
        super().__init__()
        self.isfinite, self.norm = Yes(), nn.LayerNorm(2)

class Holder:
    isfinite = Yes()

def weights(x): return Liar() if x.dim() else Holder()
"""
    weights = student(cell)["weights"]
    for x in (torch.ones(2), torch.tensor(1.0)):
        with pytest.raises(TypeError, match=r"needs a tensor with a method \.isfinite"):
            weights(x).isfinite()
    assert weights(torch.ones(2)).norm(torch.ones(2)).shape == (2,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_buffer_of_complex_numbers_crosses(student, dtype):
    """Rotary positions may be complex numbers: such a module works, with gradients, and has its buffer in the test."""
    turn = student(
        f"angles = torch.arange(6, dtype={dtype}).reshape(3, 2)\n"
        "class Turn(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.register_buffer('turns', torch.polar(torch.ones_like(angles), angles))\n"
        "    def forward(self, x):\n"
        "        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (2, 2))) * self.turns).flatten(-2)\n"
    )["Turn"]()
    x = torch.randn(3, 4, dtype=dtype, requires_grad=True)
    turn(x).sum().backward()
    assert torch.allclose(turn(x).norm(dim=-1), x.norm(dim=-1)) and x.grad.abs().sum() > 0
    assert turn.turns.dtype is dtype.to_complex() and turn.turns.imag[0, 1] == torch.ones((), dtype=dtype).sin()


@pytest.mark.parametrize("alias", [("me", ""), ("first.me", "first")])
def test_a_module_that_is_part_of_itself_is_refused(alias):
    """Its stand-in would be a cycle that nothing collects during a notebook. Two names for one part are fine."""
    parts = [PartDescription("", 0, "Net", "Module", True, []), PartDescription("first", 1, "Part", "Module", True, [])]
    with pytest.raises(ProtocolError, match="part of itself"):
        module_from(None, ModuleHandle(object_id=0, name="Net", parts=parts, aliases=[alias]), [])
    model = module_from(None, ModuleHandle(object_id=0, name="Net", parts=parts, aliases=[("second", "first")]), [])
    assert model.second is model.first


def test_a_parameter_that_outlives_its_module_is_up_to_date(student):
    """A method may be called on a module that the test no longer holds; its writes reach the parameter all the same."""
    Net = student(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__(); self.lin = nn.Linear(3, 2)\n"
        "    def zero(self):\n        nn.init.zeros_(self.lin.weight); return self.requires_grad_(False)\n"
        "    def total(self):\n        return self.lin.weight.abs().sum().item()\n"
    )["Net"]
    kept = []
    net = Net()
    kept.append(net.lin.weight)
    object_id, again = net._remote.object_id, net.zero
    del net
    net = again()
    assert object_id == net._remote.object_id and net.lin.weight is kept[0]
    assert net.total() == 0 and net.lin.weight.abs().sum() == 0 and not net.lin.weight.requires_grad
