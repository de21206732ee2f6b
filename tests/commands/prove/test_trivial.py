"""Trivial answers have the shapes of the right ones, and nothing else; `grader prove` counts what they earn."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from torch import nn

from grader.commands.cli import main
from grader.commands.prove.fillings import Filling
from grader.commands.prove.matrix import AnswerRow, Kind, Matrix
from grader.commands.prove.trivial import ForNothing, for_nothing, trivial_answers
from tests.support.notebooks import answer, check, helpers, hidden, notebook
from tests.support.records import write
from tests.support.small_class import NAME

Capture = pytest.CaptureFixture[str]

LAYER = """
class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(n))
        self.register_buffer("seen", torch.zeros(()))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        self.seen += 1
        return self.double(x) * self.weight, [self.seen]

    def double(self, x):
        return self._twice(x)

    def _twice(self, x):
        return 2 * x
        ### END SOLUTION

    @classmethod
    def ones(cls):
        return cls(1)
"""
BUILT = "layer = Layer(3)\nassert layer.weight.shape == (3,), 'Three weights.'"
VALUES = "import torch\nassert torch.equal(Layer(2)(-torch.ones(2))[0], -2 * torch.ones(2)), 'Twice as much.'"
ORDER = "import torch\nx = torch.tensor([1., 2.])\nassert torch.equal(Layer(2)(x)[0].flip(0), Layer(2)(x.flip(0))[0])"
"""It holds for any constant, too."""


def namespace(text: str, filling: Filling) -> dict[str, Any]:
    """The names that a trivial answer defines."""
    names: dict[str, Any] = {"torch": torch, "nn": nn, "random": random}
    exec(dict(trivial_answers(text))[filling], names)
    return names


def trivial(function: str, filling: Filling, name: str = "answer") -> Callable[..., Any]:
    """The trivial function for a right one."""
    found: Callable[..., Any] = namespace(function, filling)[name]
    return found


NESTED = """
from collections import namedtuple
Pair = namedtuple("Pair", "left right")
def answer(x):
    return Pair(x.sum(-1), {"a": [3, 2.5, True, "four", None]}), {7}, object(), x.long(), x > 0
"""


@pytest.mark.parametrize(
    ("filling", "number", "leaves"),
    [(Filling.ZEROS, 0, [0, 0.0, False, "", None]), (Filling.ONES, 1, [1, 1.0, True, "1111", None])],
)
def test_a_result_keeps_its_shape_and_types(filling: Filling, number: int, leaves: list[Any]) -> None:
    """Of tensors, containers and what is in them; what it cannot fill becomes None."""
    x = torch.arange(6.0).view(2, 3).double()
    pair, numbers, other, whole, positive = trivial(NESTED, filling)(x)
    assert type(pair).__name__ == "Pair" and pair.right == {"a": leaves} and numbers == {number} and other is None
    assert torch.equal(pair.left, torch.full((2,), number, dtype=x.dtype)) and pair.left.dtype is x.dtype
    assert torch.equal(whole, torch.full((2, 3), number)) and torch.equal(positive, torch.full((2, 3), bool(number)))


def test_random_numbers_are_new_in_each_call() -> None:
    """They have the shape and type of the right result, and follow from no seed of the test's."""
    drawing = trivial(NESTED, Filling.RANDOM)
    x, state = torch.ones(2, 3), torch.get_rng_state()
    random.seed(5)
    before = random.getstate()
    first, second = drawing(x), drawing(x)
    assert first[0].left.shape == (2,) and first[3].dtype is torch.int64 and first[4].dtype is torch.bool
    assert not torch.equal(first[0].left, second[0].left)
    assert torch.equal(torch.get_rng_state(), state) and random.getstate() == before


def test_the_right_answer_leaves_no_trace() -> None:
    """It is called for its shapes, with copies, and gives back the random numbers that it drew."""
    text = "def answer(x, steps):\n    x += torch.rand(())\n    steps.append(random.random())\n    return x"
    x, steps, state = torch.zeros(2), [1.0], torch.get_rng_state()
    before = random.getstate()
    assert torch.equal(trivial(text, Filling.ONES)(x, steps=steps), torch.ones(2))
    assert torch.equal(x, torch.zeros(2)) and steps == [1.0]
    assert torch.equal(torch.get_rng_state(), state) and random.getstate() == before


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x * 2", "x"),
        ("return x.sum()", "x"),
        ("return n, x.sum(), -x", (0, torch.zeros(()), "x")),
        ("return [n, -x]", [0, "x"]),
        ("raise ValueError", "x"),
    ],
)
def test_the_first_argument_comes_back(body: str, expected: Any) -> None:
    """Alone, or in each place of a container that has its shape; the error for a wrong argument is not kept."""
    x = torch.ones(2)
    result = trivial(f"def answer(x, n):\n    {body}", Filling.FIRST)(x, 3)
    if not isinstance(expected, str):
        assert type(result) is type(expected) and len(result) == len(expected)
        for got, wanted in zip(result, expected, strict=True):
            assert got is x if isinstance(wanted, str) else got == wanted
    else:
        assert result is x


def test_zeros_with_gradients_depend_on_all_inputs_and_use_none() -> None:
    """Gradients of zero reach each argument and each parameter, also where an argument is infinite."""
    layer = namespace(LAYER, Filling.GRADIENTS)["Layer"](2)
    x = torch.tensor([3.0, float("inf")], requires_grad=True)
    out, _ = layer(x)
    assert torch.equal(out, torch.zeros(2))
    out.sum().backward()
    assert torch.equal(x.grad, torch.zeros(2)) and torch.equal(layer.weight.grad, torch.zeros(2))


OPERATORS = """
import functools
class Words:
    def __init__(self, words):
        self.words = words
    def __len__(self):
        return len(self.words)
    def __getitem__(self, place):
        return self.words[place]
    def __iter__(self):
        yield from self.words
    @staticmethod
    def length(word):
        return len(word)
@functools.lru_cache
def factorial(n):
    return n * factorial(n - 1) if n else 1
def items(n):
    yield from range(n)
"""


def test_every_way_to_a_result_is_trivial() -> None:
    """Operators, static methods, generators and decorated functions; what they call of each other is right."""
    names = namespace(OPERATORS, Filling.ONES)
    words, items = names["Words"](["one", "three"]), names["items"](3)
    assert (len(words), words[1], list(words), words.length("three")) == (1, "11111", ["111", "11111"], 1)
    assert names["factorial"](5) == 1 and names["factorial"].__name__ == "factorial"
    assert iter(items) is items and list(items) == [1, 1, 1]


def test_a_class_keeps_its_parameters_and_its_other_builders() -> None:
    """Its methods are trivial and change nothing in it, or fail; a function has no parameters to keep."""
    layer = namespace(LAYER, Filling.ONES)["Layer"].ones()
    out, (seen,) = layer(torch.zeros(4, 1))
    assert torch.equal(out, torch.ones(4, 1)) and seen == 1 and layer.seen == 0 and layer.weight == 1
    assert torch.equal(layer.double(torch.zeros(2)), torch.ones(2))
    unused = namespace(LAYER, Filling.UNUSED)["Layer"](2)
    assert unused.weight.shape == (2,)
    with pytest.raises(RuntimeError, match="uses none"):
        unused(torch.ones(2))
    assert Filling.UNUSED not in dict(trivial_answers("def answer(): pass"))
    assert [*trivial_answers("answer = 3")] == [] == [*trivial_answers("def _own(): pass")]


def test_what_trivial_answers_earn_counts_once_and_together() -> None:
    """Tests that a class passes although its methods fail are apart."""
    points = {"values": 6.0, "order": 1.0, "batch": 2.0, "parameters": 4.0}
    failed = {
        Filling.ZEROS: ["values", "batch"],
        Filling.ONES: ["values", "order"],
        Filling.FIRST: ["values", "batch"],
        Filling.UNUSED: ["values", "order", "batch"],
    }
    found = for_nothing(failed, points)
    assert found == ForNothing(3, 9, {"order": ["zeros", "the first argument"], "batch": ["ones"]}, ["parameters"])
    assert found.is_too_much
    del failed[Filling.UNUSED]
    together = for_nothing(failed, points)
    assert (together.points, together.out_of, together.apart) == (7, 13, [])


@pytest.mark.parametrize(("points", "is_too_much"), [(9.0, False), (8.9, True)])
def test_a_tenth_is_allowed(points: float, is_too_much: bool) -> None:
    """Exactly a tenth is; an answer that was not graded earns nothing."""
    rows = [
        AnswerRow(Kind.TRIVIAL, Filling.ZEROS, killed_by=["values"]),
        AnswerRow(Kind.TRIVIAL, Filling.ONES, is_undecided=True),
    ]
    found = Matrix("01", "e", ["values", "order"], rows[:1], [], points={"values": points, "order": 1.0})
    assert found.for_nothing.is_too_much is is_too_much is not found.is_proven()
    found.rows = rows
    assert found.for_nothing.tests == {"order": ["zeros"]} and not found.is_proven()


def save(folder: Path, order: str = ORDER) -> None:
    """Write the source with a test of the order."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("layer", LAYER),
        check("layer-check", VALUES),
        hidden("layer-test-parameters", "It has its parameters.", BUILT),
        hidden("layer-test-order", "What changes places in x does so in the output.", order),
    )
    write(folder / "source" / NAME / "small.ipynb", nbformat.writes(source))


@pytest.mark.slow
def test_points_for_nothing_are_an_error(course: Path, capsys: Capture) -> None:
    """The tests are named with the answers that pass them; one that asks for a value first gives nothing."""
    assert main(["prove", "--trivial"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "layer: trivial answers earn 1 / 2 points, and may earn a tenth" in out
    assert "layer-test-order: zeros, ones, the first argument, zeros with gradients" in out
    assert "These exercises are open: layer." in out and "7 answers to 1 exercises" in out
    assert main(["prove", "--trivial", "--json"]) == 1
    (exercise,) = json.loads(capsys.readouterr().out)["exercises"]
    assert exercise["for_nothing"]["apart"] == ["layer-test-parameters"] and exercise["for_nothing"]["points"] == 1
    assert {row["kind"] for row in exercise["rows"]} == {"right answer", "trivial answer"}
    assert all(kills == 0 for kills in exercise["kills"].values())
    save(course, f"{VALUES}\n{ORDER}")
    assert main(["prove", "--trivial"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("layer "))
    assert "0 / 2" in row and row.rstrip().endswith("ok")
