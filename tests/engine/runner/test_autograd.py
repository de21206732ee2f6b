"""Gradients and random numbers across the boundary are those of one process, whichever side makes or changes them."""

import gc

import pytest
import torch

from grader.engine.rpc.gradients import put
from grader.engine.rpc.message import ProtocolError
from tests.support.both_worlds import assert_same

ANSWER = """
def attention(q, k, v, mask=None):
    score = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        score = score.masked_fill(mask, float("-inf"))
    weights = score.softmax(-1)
    return weights @ v, weights

def trained():
    model = nn.Linear(3, 2)
    model(torch.ones(2, 3)).square().sum().backward()
    return model
"""
STEPS = {
    "clip": "for p in x:\n    p.grad.clamp_(-1, 1)",
    "descend": "with torch.no_grad():\n    for p in x:\n        p -= 0.5 * p.grad",
    "clear": "for p in x:\n    p.grad = None",
    "replace": "for p in x:\n    p.grad = 2 * p.grad",
    "learn": "sum((p**3).sum() for p in x).backward()",
    "train": "x(torch.ones(2, 3)).square().sum().backward()",
    "move": "with torch.no_grad():\n    for p in x.parameters():\n        p -= 0.5 * p.grad",
    "clip_norm": "nn.utils.clip_grad_norm_(x.parameters(), 0.1)",
    "forget": "x.zero_grad()",
    "zeros": "x.zero_grad(set_to_none=False)",
}
"""What student code does to parameters, or to a model."""
PARAMETERS = """
a, b, c = (torch.tensor(numbers, requires_grad=True) for numbers in ([1.0, -2.0], [3.0], [0.5]))
a.grad, b.grad = torch.tensor([0.5, -4.0]), torch.tensor([2.0])
"""
USES = {
    "every argument and every output": """
        g = torch.Generator().manual_seed(1)
        q, k, v = (torch.randn(2, 4, 3, generator=g).requires_grad_() for _ in range(3))
        out, weights = attention(q, k * 2, v, mask=torch.eye(4, dtype=torch.bool))
        (out.sum() + (weights**2).sum()).backward()
    """,
    "small differences": """
        inputs = [torch.randn(1, 3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
        found = torch.autograd.gradcheck(attention, inputs)
        with pytest.raises(RuntimeError, match="Jacobian"):
            torch.autograd.gradcheck(lambda x: get("(x * x.detach()).sum()", x), inputs[:1])
    """,
    "one tensor twice": "x = torch.tensor(3.0, requires_grad=True)\nget('x[0] * x[1]', x, x).backward()",
    "no gradients": """
        x = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            without = get("(x * 2, torch.is_grad_enabled())", x)
        found = get("(x * 2, torch.is_grad_enabled(), x.argmax())", x), get("x * 2", torch.ones(2))
        once = [each.requires_grad for each in get("(x.detach(), x + 1)", x)]
        assert not without[0].requires_grad and once == [False, True]
    """,
    "leaves that student code makes": """
        w, parameter, plain = get("(torch.ones(2, requires_grad=True), nn.Parameter(torch.zeros(3)), torch.zeros(3))")
        parameter.sum().backward()
    """,
    "a graph that is kept": """
        x = torch.ones(2, requires_grad=True)
        out = get("(x * 3).sum()", x)
        out.backward(retain_graph=True)
        again = torch.autograd.grad(out, x)
    """,
    "random numbers": """
        torch.manual_seed(7)
        noisy, nothing = "nn.functional.dropout(x, 0.5) + torch.randn(4)", get("1")
        drawn = [torch.rand(1), get(noisy, torch.ones(4)), torch.rand(1), get(noisy, torch.ones(4)), torch.rand(1)]
    """,
    "a generator": """
        g = torch.Generator().manual_seed(5)
        drawn = [get("torch.rand(3, generator=x)", g) for _ in range(2)], torch.rand(3, generator=g)
    """,
    "a result that is changed in place": """
        x = torch.ones(2, 3, requires_grad=True)
        out, plain = get("(x * 2).t()", x), get("(x * 2).t()", torch.ones(2, 3))
        out *= 3
        plain += 1
        out.sum().backward()
    """,
    "results that are not used": """
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        results = "(x * 3, torch.heaviside(x, torch.ones(())), (x - x).sqrt())"
        get(results, x)[0].sum().backward()
        with pytest.raises(RuntimeError):
            get(results, x)[1].sum().backward()
    """,
    "an exception": """
        x = torch.ones(1, requires_grad=True)
        with pytest.raises(KeyError, match="width"):
            get("{}['width'] + x", x)
    """,
    "memory order": """
        for use in (lambda: get("x.view(6)", torch.ones(2, 3).t().requires_grad_()),
                    lambda: get("x.t()", torch.ones(2, 3)).view(6)):
            with pytest.raises(RuntimeError, match="view size"):
                use()
        turned = get("x.t()", torch.ones(2, 3))
    """,
    "gradients of the test's parameters": f"{PARAMETERS}for x in ([a, b, c], [c]):\n    do({STEPS['learn']!r}, x)",
    "a step without gradients": f"{PARAMETERS}with torch.no_grad():\n    do({STEPS['descend']!r}, [a, b])",
    "gradients that a test clears or sets": f"""
        model, train, move = trained(), {STEPS["train"]!r}, {STEPS["move"]!r}
        model.zero_grad()
        do(train, model)
        once = model.weight.grad.clone()
        do(train, model)
        assert torch.allclose(model.weight.grad, 2 * once)
        model.weight.grad, model.bias.grad = torch.ones(2, 3), torch.zeros(2)
        do(move, model)
    """,
} | {
    f"{', '.join(names)} of tensors": f"{PARAMETERS}for s in {[STEPS[name] for name in names]}:\n    do(s, [a, b])"
    for names in (["descend"], ["clip"], ["clear"], ["replace"], ["clip", "descend", "clear", "learn"])
} | {
    f"{', '.join(names)} of a model": f"""
        model = trained()
        assert model.weight.grad is not None
        model(torch.ones(1, 3)).sum().backward()
        for step in {[STEPS[name] for name in names]}:
            do(step, model)
    """
    for names in (["move"], ["train"], ["train", "move", "forget"], ["zeros"], ["forget", "train"],
                  ["clip_norm", "move", "zeros"])
}  # fmt: skip


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_gradients_and_random_numbers_are_those_of_one_process(student, test):
    """To the last bit, for arguments, results and parameters; student code and the test add to the same gradients."""
    assert_same(student, ANSWER, test)


def test_an_old_gradient_keeps_its_values(student):
    """A test may keep it and compare it with the next one."""
    remote = student(f"{ANSWER}\ndef train(x):\n    {STEPS['train']}")
    model = remote["trained"]()
    before = model.weight.grad
    copy = before.clone()
    remote["train"](model)
    assert torch.equal(before, copy) and not torch.equal(before, model.weight.grad)


def test_a_sparse_gradient_stays_in_the_sandbox(student):
    """It does not cross, but the weights that it moves do."""
    remote = student(
        "def make():\n    return nn.Embedding(4, 2, sparse=True)\n"
        "def train(model):\n"
        "    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)\n"
        "    model(torch.tensor([1])).sum().backward()\n    optimiser.step()\n"
    )
    model = remote["make"]()
    before = model.weight.detach().clone()
    remote["train"](model)
    assert (before - model.weight).tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]] and model.weight.grad is None


@pytest.mark.parametrize("gradient", [torch.ones(3), torch.ones(2, dtype=torch.float64), 7, [1.0, 2.0]])
def test_a_gradient_that_does_not_fit_breaks_the_protocol(gradient):
    """Only a sandbox that makes its messages up sends one."""
    with pytest.raises(ProtocolError, match="shape and dtype"):
        put(torch.ones(2), gradient)


@pytest.mark.slow
def test_a_call_is_freed_with_its_last_reference(student):
    """On both sides without a garbage collection: a test that trains would otherwise keep all of its steps."""
    remote = student(
        "import gc\ngc.disable()\n"
        "def collected():\n    return gc.collect()\n"
        "def both(items, more):\n    return [2 * item for item in items], more\n"
    )
    model = student("Net = nn.Linear")["Net"](3, 2)
    collected, both = remote["collected"], remote["both"]

    def calls():
        for x in torch.ones(3, 2, requires_grad=True):
            both([x, x], {"more": (1, slice(2))})[0][1].sum().backward()
            model(torch.ones(1, 3)).sum().backward()

    calls()
    collected()
    gc.collect()
    gc.disable()
    try:
        calls()
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert collected() == 0
