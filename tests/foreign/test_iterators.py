"""Iterators and views that a test hands over, and parameters of models, reach student code as in one kernel."""

import pytest

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.support.notebooks import answer, check, notebook

TAKE = "def total(items):\n    return sum(items)\n\ndef first(items):\n    return next(iter(items))"
ITEMS = {
    "a generator": "assert total(k for k in range(4)) == 6",
    "map, zip and enumerate": "assert total(map(int, '12')) == 3 and first(zip('a', 'b')) == ('a', 'b')\n"
    "assert first(enumerate('a')) == (0, 'a')",
    "no end": "import itertools\nassert first(itertools.count(3)) == 3 and total([1, 2]) == 3",
    "the rest is left": "it = iter(range(5))\nassert first(it) == 0 and next(it) == 1 and total(it) == 9",
    "an error in a generator": "def broken():\n    yield 1\n    raise KeyError('b')\n\nassert total([2]) == 2\n"
    "try:\n    total(broken())\nexcept KeyError as error:\n    pass\nelse:\n    assert False",
    "views": "d = {'a': 1, 'b': 2}\nassert total(d.values()) == 3 and first(d.keys()) == 'a'\n"
    "assert first(d.items()) == ('a', 1)",
}
WRONG = TAKE.replace("sum(items)", "7").replace("next(iter(items))", "8")
PATTERNS = {name: (TAKE, WRONG, test) for name, test in ITEMS.items()} | {
    "views twice, and their length": (
        "def mean(values):\n    return sum(values) / len(values) + 0 * sum(values)",
        "def mean(values):\n    return sum(values)",
        "assert mean({1: 2, 3: 6}.values()) == 4",
    ),
    "views that come back": (
        "def words(counts):\n    return counts.keys()",
        "def words(counts):\n    return counts.values()",
        "assert words({'a': 1}) == {'a': 2}.keys() and len(words({})) == 0",
    ),
    "writes into the values of a dict": (
        "def push(lists):\n    for each in lists:\n        each.append(1)",
        "def push(lists):\n    list(lists)",
        "d = {'a': [], 'b': [2]}\npush(d.values())\nassert d == {'a': [1], 'b': [2, 1]}",
    ),
    "gradients of the test's parameters": (
        "def clip(parameters, most):\n    for p in parameters:\n        p.grad.clamp_(max=most)",
        "def clip(parameters, most):\n    for p in parameters:\n        p.grad.clamp_(min=most)",
        "import torch\nm = torch.nn.Linear(2, 1)\nm(torch.full((1, 2), 5.0)).sum().backward()\n"
        "clip(m.parameters(), 1.0)\nassert m.weight.grad.max() == 1",
    ),
    "named parameters": (
        "import torch\n\ndef empty(parameters):\n    for name, p in parameters:\n        if name == 'bias':\n"
        "            torch.nn.init.zeros_(p)",
        "def empty(parameters):\n    pass",
        "import torch\nm = torch.nn.Linear(2, 1)\nempty(m.named_parameters())\nassert not m.bias.any()\n"
        "assert m.weight.any()",
    ),
}
MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)

class Descent:
    def __init__(self, parameters, rate):
        self.parameters, self.rate = list(parameters), rate

    def step(self):
        with torch.no_grad():
            for p in self.parameters:
                p -= self.rate * p.grad

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None
"""
TRAINS = """
model = Net()
descent = Descent({parameters}, 0.5)
before = model.fc.weight.detach().clone()
for step in range(2):
    descent.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    descent.step()
assert torch.allclose(model.fc.weight, before - 1)
"""


def points(right, answered, test):
    return grade(
        notebook(answer("a", right), check("a-check", test)), notebook(answer("a", answered), check("a-check", test))
    ).points


@pytest.mark.parametrize("name", PATTERNS)
def test_iterators(name):
    """The right answer has full points, a wrong one none."""
    right, wrong, test = PATTERNS[name]
    assert (points(right, right, test), points(right, wrong, test)) == (1, 0)


@pytest.mark.parametrize(
    "parameters", ["model.parameters()", "list(model.parameters())", "[model.fc.weight, model.fc.bias]"]
)
def test_an_optimiser_of_the_students_trains_a_model_of_the_students(parameters):
    """It has the parameters themselves, also in later calls."""
    test = TRAINS.format(parameters=parameters)
    wrong = MODEL.replace("p -= ", "p += ")
    assert (points(MODEL, MODEL, test), points(MODEL, wrong, test)) == (1, 0)


def test_an_object_does_not_keep_copies_of_the_parameters_of_a_test():
    """It would train the copies. The student is not to blame."""
    test = "from torch import nn\n" + TRAINS.format(parameters="model.parameters()").replace("Net()", "nn.Linear(2, 1)")
    cells = answer("a", MODEL), check("a-check", test)
    [result] = grade(notebook(*cells), notebook(*cells)).results
    assert result.verdict is Verdict.UNGRADABLE
