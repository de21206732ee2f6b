"""Modules of the student's, as a test sees them: what holds for an nn.Module here holds across the boundary."""

import pytest
import torch
from torch import nn

from course.grading.anatomy import module_from
from course.grading.wire import WireError


def test_a_module_has_the_same_parts_and_names(pair):
    """Parameters, buffers, submodules, state_dict and repr are those of the student's module."""
    ours, theirs = pair
    assert isinstance(theirs, nn.Module)
    assert list(theirs.state_dict()) == list(ours.state_dict())
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())
    assert [name for name, _ in theirs.named_parameters()] == [name for name, _ in ours.named_parameters()]
    assert [name for name, _ in theirs.named_buffers()] == [name for name, _ in ours.named_buffers()]
    assert [name for name, _ in theirs.named_modules()] == [name for name, _ in ours.named_modules()]
    assert sum(p.numel() for p in theirs.parameters()) == sum(p.numel() for p in ours.parameters())
    assert "Linear" in repr(theirs) and theirs.first.weight.shape == (4, 3)


def test_torchs_own_modules_are_known_by_class(pair):
    """A test may count the nn.Linear in a model or start the weights of each."""
    ours, theirs = pair
    for kind in (nn.Linear, nn.Dropout, nn.BatchNorm1d):
        assert sum(isinstance(m, kind) for m in theirs.modules()) == sum(isinstance(m, kind) for m in ours.modules())
    assert not isinstance(theirs, nn.Linear)


def test_attributes_are_read_and_written(pair):
    """Plain attributes come over, and setting one changes the student's module, a dropout's p too."""
    theirs = pair[1]
    assert theirs.width == 3 and theirs.drop.p == 0.5 and theirs.first.in_features == 3
    assert not hasattr(theirs, "missing")
    theirs.drop.p = 0.0
    theirs.norm = theirs.norm.eval()
    x = torch.randn(5, 3)
    assert torch.equal(theirs(x), theirs(x))
    assert theirs.calls == 2


def test_forward_and_methods_and_parts_compute_the_same(pair):
    """The module, its methods and its submodules can be called on their own."""
    ours, theirs = (module.eval() for module in pair)
    x = torch.randn(5, 3)
    assert torch.equal(theirs(x), ours(x)) and torch.equal(theirs.forward(x), ours(x))
    assert torch.equal(theirs.double_of(x), ours.double_of(x))
    assert torch.equal(theirs.first(x), ours.first(x))


def test_training_gives_the_same_weights(pair):
    """Ten steps of Adam with dropout and batch norm, to the last bit; running statistics come back."""
    for module in pair:
        torch.manual_seed(2)
        optimiser = torch.optim.Adam(module.parameters(), lr=0.1)
        for _ in range(10):
            optimiser.zero_grad()
            module(torch.randn(8, 3)).square().sum().backward()
            optimiser.step()
    ours, theirs = (module.state_dict() for module in pair)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert theirs["norm.num_batches_tracked"] == 10 and theirs["norm.running_mean"].abs().sum() > 0


def test_train_and_eval_reach_the_student(pair):
    """eval() of the whole or of a part switches dropout there; train() switches it back."""
    theirs = pair[1]
    x = torch.ones(6, 3)
    theirs.eval()
    assert torch.equal(theirs(x), theirs(x))
    theirs.drop.train()
    assert not torch.equal(theirs(x), theirs(x))


def test_a_part_with_two_names_is_one_part(student):
    """A student may use one network for two things: both names lead to the same module and the same weights."""
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


def test_a_buffer_may_come_to_want_a_gradient(student):
    """A running mean that was never detached is a mistake of the student's, not of the grader's."""
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


def test_a_module_of_the_test_cannot_replace_one_of_the_students(pair):
    """It would stand here and not there: the test hears so at once, rather than judge what did not happen."""
    with pytest.raises(TypeError, match="'drop'"):
        pair[1].drop = nn.Identity()


def test_gradients_of_parameters_are_those_of_one_process(pair):
    """backward() fills .grad of every parameter, and nothing of those that want no gradient."""
    x = torch.randn(5, 3)
    for module in pair:
        module.eval()
        module.last.requires_grad_(False)
        module(x).sum().backward()
    ours, theirs = pair
    assert theirs.last.weight.grad is None
    assert torch.equal(theirs.first.weight.grad, ours.first.weight.grad)
    for parameter in theirs.parameters():
        parameter.requires_grad_(False)
    assert not theirs(x).requires_grad


def test_lists_of_modules_and_parameters(student):
    """Items by number from either end, length, iteration; the parameters in them are the model's."""
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


def test_no_method_of_the_students_plays_that_of_a_tensor(student):
    """A test that asks a result for its sum asks a tensor; an object that would answer for itself is refused."""
    liar = student(
        "class Liar:\n"
        "    shape = (2, 3)\n"
        "    def sum(self, *a): return torch.ones(2)\n"
        "    def encode(self): return 7\n"
        "def weights(): return Liar()"
    )
    result = liar["weights"]()
    assert result.encode() == 7
    with pytest.raises(TypeError, match="where a tensor is expected"):
        result.sum(-1)


def test_no_module_answers_for_a_tensor(student):
    """Nor does a part that a module calls `isnan`: only names that people give to layers lead to one."""
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
        with pytest.raises(TypeError, match="where a tensor is expected"):
            weights(x).isfinite()
    assert weights(torch.ones(2)).norm(torch.ones(2)).shape == (2,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_buffer_of_complex_numbers_crosses(student, dtype):
    """Positions may be turned by complex numbers: such a module answers, with gradients, and shows its buffer."""
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
def test_a_module_that_is_said_to_lie_in_itself_is_refused(alias):
    """Its twin would be rubbish that nobody collects while a notebook is graded; one part under two names is none."""
    modules = [("", 0, "Net", "Module", True, []), ("first", 1, "Part", "Module", True, [])]
    said = {"modules": modules, "aliases": [alias], "parameters": [], "gradients": [], "buffers": []}
    with pytest.raises(WireError, match="lies in itself"):
        module_from(None, 0, said)
    twice = module_from(None, 0, said | {"aliases": [("second", "first")]})
    assert twice.second is twice.first


def test_a_parameter_that_outlived_its_module_is_what_it_has_become(student):
    """A method may be called on a module that nobody keeps: what it wrote is there, here and there."""
    Net = student(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__(); self.lin = nn.Linear(3, 2)\n"
        "    def zero(self):\n        nn.init.zeros_(self.lin.weight); return self.requires_grad_(False)\n"
        "    def total(self):\n        return self.lin.weight.abs().sum().item()\n"
    )["Net"]
    kept = []
    net = Net()
    kept.append(net.lin.weight)
    number, again = net._remote.number, net.zero
    del net
    net = again()
    assert number == net._remote.number and net.lin.weight is kept[0]
    assert net.total() == 0 and net.lin.weight.abs().sum() == 0 and not net.lin.weight.requires_grad
