"""A student's module is to a test what it is in one process: the same parts, weights, modes and gradients."""

import gc
import weakref

import pytest
import torch
from torch import nn

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import ModuleHandle, PartDescription
from grader.engine.runner.standins.module_state import module_from
from grader.engine.sandbox.module_tracker import ModuleTracker
from tests.support.both_worlds import assert_same

SMALL = """
class Small(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.first, self.norm, self.drop = nn.Linear(width, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)
        self.last, self.width, self.calls = nn.Linear(4, 2), width, 0

    def forward(self, x):
        self.calls += 1
        return self.last(self.drop(self.norm(self.first(x)).relu()))

    def double_of(self, x):
        return self.first(x) * 2

    @property
    def weight_sum(self):
        return self.first.weight.sum()

    def zero(self):
        nn.init.zeros_(self.first.weight)
        return self.requires_grad_(False)
"""
OF_A_SMALL_MODULE = {
    "its parts and names": """
        counts = [sum(isinstance(m, kind) for m in model.modules()) for kind in (nn.Linear, nn.Dropout, nn.Module)]
        is_layer, shape, text = isinstance(model, nn.Linear), model.first.weight.shape, repr(model.first)
    """,
    "attributes": """
        read = model.width, model.drop.p, model.first.in_features, hasattr(model, "missing")
        model.drop.p, model.norm = 0.0, model.norm.eval()
        made = model(x), model(x), model.calls
    """,
    "methods and parts": """
        made = model.eval()(x), model.forward(x), model.double_of(x), model.first(x), model.weight_sum
    """,
    "modes": """
        found = [model.eval()(x), model(x), model.drop.train().training, model(x), model.training, model.train()(x)]
    """,
    "training": """
        optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(10):
            optimiser.zero_grad()
            model(torch.randn(8, 3)).square().sum().backward()
            optimiser.step()
        steps = model.norm.num_batches_tracked
    """,
    "frozen parts": """
        model.eval().last.requires_grad_(False)
        model(x).sum().backward()
        once = [p.grad is None for p in model.parameters()]
        for p in model.parameters():
            p.requires_grad_(False)
        again = model(x)
    """,
    "other precision": """
        model.double().eval()
        x = x.double().requires_grad_()
        made, checked = model(x), torch.autograd.gradcheck(model, x)
    """,
    "deep copies": """
        import copy
        model.eval().last.requires_grad_(False)
        nn.init.ones_(model.first.weight)
        copied = copy.deepcopy(model)
        same = torch.equal(copied(x), model(x))
        nn.init.zeros_(copied.last.weight)
        made = copied(x), model(x), copied.drop.training
    """,
    "hooks": """
        plain, seen = model.eval()(x), []
        handles = [
            model.first.register_forward_hook(lambda part, args, out: seen.append((part is model.first, out.shape))),
            model.register_forward_hook(lambda part, args, out: seen.append((part is model, args[0].shape))),
            model.last.register_full_backward_hook(lambda part, inner, outer: seen.append((str(part), outer[0].shape))),
            model.first.register_forward_pre_hook(lambda part, args: (torch.zeros_like(args[0]),)),
        ]
        hooked = model(x)
        hooked.sum().backward()
        for handle in handles:
            handle.remove()
        assert not torch.equal(hooked, plain) and torch.equal(model(x), plain) and len(seen) == 3
        del handles, handle
    """,
    "weights that outlive it": """
        kept, again = model.first.weight, model.zero
        del model
        model = again()
        same, total, weights = model.first.weight is kept, model.weight_sum, kept.detach().clone()
    """,
} | {
    f"weights set by {write}": f"""
        for _ in range(2):
            {write}
            made = model.first(x), model.weight_sum
            nn.init.normal_(model.first.weight)
            other = model.first(x)
    """
    for write in (
        "model.first.load_state_dict({'weight': torch.ones(4, 3), 'bias': torch.zeros(4)})",
        "with torch.no_grad(): model.first.weight.copy_(torch.ones(4, 3)), model.first.bias.mul_(0)",
        "nn.init.ones_(model.first.weight), nn.init.zeros_(model.first.bias)",
        "model.first.weight.data.fill_(1); model.first.bias.data[:] = 0",
        "model.first.weight.data, model.first.bias.data = torch.ones(4, 3), torch.zeros(4)",
        "model.first.weight, model.first.bias = nn.Parameter(torch.ones(4, 3)), nn.Parameter(torch.zeros(4))",
    )
}  # fmt: skip


@pytest.mark.parametrize("test", OF_A_SMALL_MODULE.values(), ids=OF_A_SMALL_MODULE)
def test_a_module_works_as_in_one_process(student, test):
    """Its parts, attributes, methods, modes, training and copies, and a weight that a test sets in any way."""
    assert_same(student, SMALL, f"        model, x = Small(), torch.randn(5, 3)\n        {test.strip()}")


MODULES = """
made = nn.Linear(1, 1, bias=False)

class Flagged(nn.Module):
    learning = True

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

class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("both", torch.zeros(2, 3))
        self.register_buffer("mean", self.both[0])
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        self.register_buffer("none", None)

    def forward(self, x):
        return x + self.both.sum(0) + self.table

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(self.embed(x))

class Pair(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = self.decoder = encoder

    def forward(self, x):
        return self.decoder(x)

class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("kept", torch.zeros(2))

    def forward(self, x):
        self.kept = self.kept + x * self.weight
        return self.kept

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        self.scales = nn.ParameterList(torch.full((1,), float(n)) for n in range(2))
        self.named = nn.ModuleDict({"a": nn.ReLU()})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

class Turn(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        angles = torch.arange(6, dtype=dtype).reshape(3, 2)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (2, 2))) * self.turns).flatten(-2)
"""
LAZY = """
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

class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LazyBatchNorm1d()
        self.register_buffer("seen", None)

    def forward(self, x):
        self.seen = x.detach().mean(0)
        return self.norm(x)

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

def Torchs():
    return nn.Sequential(nn.Linear(3, 4), nn.LazyBatchNorm1d(), nn.LazyLinear(2))
"""
USES = {
    "weights that student code sets": """
        layer, found = get("nn.Linear(2, 2)"), []
        for write in ("data.fill_(5)", "data = x.weight.data / 2", "requires_grad_(False).add_(1)"):
            do(f"x.weight.{write}", layer)
            found.append((layer.weight.tolist(), layer(torch.ones(1, 2)).tolist()))
    """,
    "modes that student code sets": """
        model = get("nn.Sequential(nn.Linear(1, 1), nn.Dropout())")
        do("x[0].weight.requires_grad_(False)", model)
        do("x.eval()", model)
        once = [p.requires_grad for p in model.parameters()], model.training, model[1].training
        model.train()
        other = get("nn.Sequential(nn.Linear(1, 1), nn.Dropout())").train()(torch.zeros(0, 1))
    """,
    "a train and an eval of its own": """
        x, flagged, frozen, quiet = torch.ones(1), Flagged(), Frozen(), Quiet()
        found = flagged(x), flagged.eval()(x), flagged.training, flagged.train()(x), quiet(x), quiet.eval()(x)
        more = frozen.train() is frozen, frozen.norm.training, frozen(x), frozen.eval()(x), frozen.part.training
    """,
    "buffers that share memory, or are not saved": """
        module = Statistics()
        module.mean.fill_(1)
        found = module(torch.zeros(3)), module.table, module.none, len(list(module.buffers()))
        module.double()(torch.zeros(3, dtype=torch.float64))
    """,
    "a global model that student code trains": "model = made\ndo('nn.init.constant_(made.weight, 9.0)')",
    "tied weights": """
        model = Tied()
        same = model.out.weight is model.embed.weight, len(list(model.parameters()))
        nn.init.ones_(model.embed.weight)
        found = model(torch.tensor([1]))
        model(torch.tensor([1])).sum().backward()
    """,
    "one module in another, by two names": """
        encoder = get("nn.Linear(2, 2)")
        model = Pair(encoder)
        same = model.encoder is model.decoder, model.decoder.weight is encoder.weight, sorted(model.state_dict())
        model(torch.ones(1, 2)).sum().backward()
        once = encoder.weight.grad.tolist(), encoder.bias.grad.tolist()
        nn.init.zeros_(encoder.weight), nn.init.ones_(model.encoder.bias)
        found = model(torch.ones(1, 2)), encoder(torch.ones(1, 2))
    """,
    "a buffer that comes to require a gradient": """
        model = Keeps()
        found = [model(torch.ones(2)).detach() for _ in range(3)]
        del model
    """,
    "lists of modules and parameters": """
        model = Stack()
        same = model.layers[-1] is model.layers[2], len(model.layers), len(list(model.layers)), bool(model)
        named = "a" in model.named, list(model.named), isinstance(model.named["a"], nn.ReLU), bool(model.named["a"])
        scales = len(model.scales), model.scales[1].item()
        model(torch.ones(1, 2)).sum().backward()
    """,
    "a layer that is deleted or replaced": """
        model = get("nn.ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Linear(2, 2)})")
        held, linear = model["a"], model["b"]
        do("del x['a']", model)
        once = sorted(model.state_dict()), model["b"] is linear, held.weight.shape
        do("x['b'] = nn.Conv1d(1, 1, 3)", model)
        again = model["b"] is linear, isinstance(model["b"], nn.Conv1d)
    """,
} | {
    f"complex numbers in {dtype}": f"""
        x, turn = torch.randn(3, 4, dtype={dtype}, requires_grad=True), Turn({dtype})
        turn(x).sum().backward()
        turned, kind = turn(x), turn.turns.dtype
    """
    for dtype in (torch.float32, torch.float64)
}  # fmt: skip
OF_LAZY_MODULES = {
    "a class that changes with the first call": """
        inside, alone = Lazy(), get("nn.LazyBatchNorm1d()")
        for model, norm in ((inside, inside.norm), (alone, alone)):
            before = repr(norm)[:4]
            model(torch.tensor([[1.0, 2.0, 4.0], [3.0, 2.0, 0.0]]))
            after = repr(norm), isinstance(norm, nn.BatchNorm1d), norm.weight.shape, norm in list(model.modules())
    """,
    "a buffer that comes and goes": """
        model = Lazy()
        before = model.seen
        model(torch.tensor([[1.0, 2.0], [3.0, 0.0]]))
        seen = model.seen, model.state_dict()["seen"]
        do("x.seen = None", model)
        after = model.seen, "seen" in model.state_dict()
    """,
    "layers that come with the first call, and learn": """
        model, x = Growing(), torch.randn(5, 3)
        first, weight = model.first, model.first.weight
        made = model(x)
        same = model.first is first, model.first.weight is weight, torch.equal(model(x), made), model.last[0].training
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        model(x)[:, 0].sum().backward()
        optimiser.step()
        model.eval()
        found = model.last[0].training, model(x), model.calls
        with torch.no_grad():
            model.scale.zero_()
        zero = model(x)
    """,
} | {
    f"parameters that {name} makes in a call, with requires_grad={requires_grad}": f"""
        model, x = {name}(), torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]], requires_grad={requires_grad})
        made = model(x)
        made.square().sum().backward()
        first = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        made = made.detach()
        model(x).sum().backward()
    """
    for name in ("Plain", "Scaled", "Frozen", "Torchs")
    for requires_grad in (False, True)
}  # fmt: skip


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_parts_of_modules_stay_the_same_objects_on_both_sides(student, test):
    """Weights, buffers and modes that student code sets, shares or ties, and parts that it deletes."""
    assert_same(student, MODULES, test)


@pytest.mark.parametrize("test", OF_LAZY_MODULES.values(), ids=OF_LAZY_MODULES)
def test_parts_that_come_in_a_call_come_to_the_test(student, test):
    """With their gradients of that call, whether or not the input requires one, and with the next call's."""
    assert_same(student, LAZY, test)


def test_a_deleted_module_is_forgotten(pair):
    """A test that makes fifty models does not send them all along with every later call."""
    client = pair[1]._remote.client
    assert len(client.modules) == 1
    del pair[1]
    assert len(client.modules) == 0


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


def test_a_module_of_the_test_cannot_replace_a_part(pair):
    """It would exist in the runner only, so the assignment fails at once: the test must not judge a model like that."""
    with pytest.raises(TypeError, match="'drop'"):
        pair[1].drop = nn.Identity()


def test_no_object_of_the_students_replaces_a_method_of_tensors(student):
    """A test that calls `sum` or `isfinite` on a result means a tensor's; only names of layers lead to a part."""
    remote = student("""
class Yes(nn.Module):
    def forward(self, *a): return torch.tensor(True)

class Liar(nn.Module):
    def __init__(self):
        super().__init__()
        self.isfinite, self.norm = Yes(), nn.LayerNorm(2)

class Holder:
    shape, isfinite = (2, 3), Yes()
    def sum(self, *a): return torch.ones(2)
    def encode(self): return 7
""")
    model, held = remote["Liar"](), remote["Holder"]()
    for name, use in (("isfinite", lambda: model.isfinite()), ("isfinite", lambda: held.isfinite()),
                      ("sum", lambda: held.sum(-1))):  # fmt: skip
        with pytest.raises(TypeError, match=rf"needs a tensor with a method \.{name}"):
            use()
    assert model.norm(torch.ones(2)).shape == (2,) and held.encode() == 7


@pytest.mark.parametrize("alias", [("me", ""), ("first.me", "first")])
def test_a_module_that_is_part_of_itself_is_refused(alias):
    """Its stand-in would be a cycle that nothing collects during a notebook. Two names for one part are fine."""
    parts = [PartDescription("", 0, "Net", "Module", True, []), PartDescription("first", 1, "Part", "Module", True, [])]
    with pytest.raises(ProtocolError, match="part of itself"):
        module_from(None, ModuleHandle(object_id=0, name="Net", parts=parts, aliases=[alias]), [])
    model = module_from(None, ModuleHandle(object_id=0, name="Net", parts=parts, aliases=[("second", "first")]), [])
    assert model.second is model.first
