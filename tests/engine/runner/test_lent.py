"""A test hands over objects of its own, and gets back the same objects; student code reaches nothing else by them."""

import inspect
import io
import sys
from collections import namedtuple
from types import SimpleNamespace
from unittest.mock import Mock

import numpy
import pytest
import torch

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import GivenRef
from grader.engine.rpc.objects.lent import lend, operate
from grader.engine.rpc.operations import OPERATIONS
from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.standins.errors import StudentError

OURS = """
class Item:
    def __init__(self, name, price=1.0):
        self.name, self.price = name, price
    def __eq__(self, other):
        return isinstance(other, Item) and self.name == other.name
    def __lt__(self, other):
        return self.price < other.price
    def __add__(self, other):
        return Item(self.name + other.name, self.price + other.price)
    def __len__(self):
        return len(self.name)
    def __enter__(self):
        self.is_open = True
        return self
    def __exit__(self, kind, error, trace):
        self.is_open = False
        return kind is KeyError
"""
CODE = """
def same(x): return x
def wrap(x): return [x, {"x": x}, (x,)]
def name(x): return x.name
def rename(x, name): x.name = name
def cheapest(items): return min(items, key=lambda item: item.price)
def ordered(items): return sorted(items)
def both(a, b): return a + b
def described(x): return type(x).__name__, len(x), vars(x)["name"]
def inside(x):
    with x as opened:
        raise KeyError(opened.name)
def is_item(x): return isinstance(x, Item)
def reach(x, *path):
    for name in path:
        x = getattr(x, name)
    return x
def function(f): return f.__name__, f.__doc__, list(__import__("inspect").signature(f).parameters)
def write(out): print("more", file=out)
def lines(file): return [line.strip() for line in file]
def first(items): return next(items)
def append(items, item):
    items.append(item)
    return items
def copied(x): return x.copy() if hasattr(x, "copy") else x.clone()
class Shop:
    def __init__(self): self.items = []
    def keep(self, item): self.items.append(item)
    def find(self, name): return next(each for each in self.items if each.name == name)
"""


@pytest.fixture
def item():
    """The class of a test, which runs in the module `__main__`."""
    names = {"__name__": "__main__"}
    exec(OURS, names)
    return names["Item"]


def test_student_code_uses_an_object_of_the_test(student, item):
    """It reads and sets attributes and makes operations; what comes back is the test's own object."""
    remote = student(CODE)
    one, other = item("b", 2.0), item("a")
    assert remote["name"](one) == "b" and remote["described"](one) == ("Item", 1, "b")
    assert remote["cheapest"]([one, other]) is other and remote["ordered"]([one, other])[0] is other
    added = remote["both"](one, other)
    assert type(added) is item and (added.name, added.price) == ("ba", 3.0)
    remote["rename"](one, "c")
    assert one.name == "c" and remote.client.wrote
    assert remote["inside"](one) is None and one.is_open is False
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        remote["reach"](one, "colour")


def test_an_object_is_kept_between_calls(student, item):
    """The student's own object holds it, and sees its later changes."""
    shop = student(CODE)["Shop"]()
    one = item("b")
    shop.keep(one)
    shop.keep(item("a"))
    assert shop.find("b") is one and len(shop.items) == 2
    one.name = "z"
    assert shop.find("z") is one


def test_a_class_of_a_read_only_cell_is_one_class(student, item):
    """It has run in both processes: `isinstance` holds for objects of each in the other."""
    remote = student(OURS + CODE + "class Sale(Item):\n    pass\ndef make(name):\n    return Item(name)")
    remote.client.read_only_classes = {"Item": item}
    remote.client.our_classes = {"Item": frozenset(("__eq__",))}
    assert remote["is_item"](item("a")) and not remote["is_item"](3)
    assert isinstance(remote["make"]("a"), item) and remote["make"]("a") == item("a") != remote["make"]("b")
    assert issubclass(remote["Sale"], item) and isinstance(remote["Sale"]("a"), item)


@pytest.mark.parametrize("make", [list, dict, set, lambda: numpy.zeros(2), lambda: torch.zeros(2), io.StringIO, Mock])
def test_an_argument_comes_back_as_itself(student, make):
    """Alone and in collections, and a copy does not."""
    remote = student(CODE)
    given = make()
    assert remote["same"](given) is given
    first, second, third = remote["wrap"](given)
    assert first is given and second["x"] is given and third[0] is given
    if not isinstance(given, io.StringIO | Mock):
        assert remote["copied"](given) is not given


def test_a_changed_argument_comes_back_as_itself(student):
    """With its new content, and with parts that are objects of the test."""
    remote = student(CODE)
    items, new = [], [1]
    assert remote["append"](items, new) is items and items[0] is new


def test_functions_keep_their_names(student):
    """Decorators of the student's copy them. A function comes back as itself."""

    def ours(x, *, scale=2):
        """Scale."""
        return scale * x

    remote = student(CODE)
    assert remote["function"](ours) == ("ours", "Scale.", ["x", "scale"])
    assert remote["same"](ours) is ours
    wrapped = student(
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*args):\n"
        "        return f(f(*args))\n    return inner"
    )["twice"](ours)
    assert wrapped(3) == 12 and wrapped.__name__ == "ours" and wrapped.__doc__ == "Scale."
    assert list(inspect.signature(wrapped).parameters) == ["x", "scale"]


def test_files_iterators_and_mocks(student):
    """Student code writes to a file in memory, takes items one by one, and calls a mock."""
    remote = student(CODE)
    out = io.StringIO()
    remote["write"](out)
    assert out.getvalue() == "more\n" and remote["lines"](io.StringIO("a\nb\n")) == ["a", "b"]
    items = iter([1, 2, 3])
    assert remote["first"](items) == 1 and next(items) == 2
    plain = SimpleNamespace(name="a")
    remote["rename"](plain, "b")
    assert plain.name == "b"
    mock = Mock()
    mock.name.return_value = 3
    assert remote["reach"](mock, "name")() == 3
    mock.name.assert_called_once_with()


SECRETS = [
    ("__class__", "__init__", "__globals__"),
    ("method", "__globals__"),
    ("method", "__func__", "__code__"),
    ("module",),
    ("module", "system"),
    ("generator", "gi_frame"),
    ("generator", "gi_frame", "f_globals"),
    ("__reduce_ex__",),
]


@pytest.mark.parametrize("path", SECRETS, ids=".".join)
def test_no_path_leads_out_of_an_object(student, path):
    """To the names of the test, to a module or to a frame: none of these crosses."""
    names = {"__name__": "__main__", "os": __import__("os"), "expected": "a secret"}
    exec(
        "class Open:\n    module = os\n    def __init__(self):\n        self.generator = (x for x in [expected])\n"
        "    def method(self):\n        return 1",
        names,
    )
    remote = student(CODE)
    try:
        found = remote["reach"](names["Open"](), *path)
    except (StudentError, TypeError, AttributeError, ProtocolError):
        return
    assert "a secret" not in repr(found) and found is not names and found is not sys


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        *(("get", (name,)) for name in ("__class__", "__dict__", "__globals__", 5, "__init__")),
        *(("set", (name, 1)) for name in ("__class__", "__dict__")),
        *(("delete", ("__class__",)), ("vars", (1,)), ("eval", ("1",)), ("__getattribute__", ("name",))),
        *(("__reduce_ex__", (2,)), ("__init_subclass__", ()), ("__call__", ()), ("__getitem__", (0,)), ("get", ())),
    ],
)
def test_a_forged_operation_is_refused(item, verb, args):
    """Only operations that the object's class has, and names without double underscores."""
    with pytest.raises(ProtocolError):
        operate(item("a"), verb, args, {})


@pytest.mark.parametrize("verb", ["get", "vars", *OPERATIONS])
def test_a_function_can_only_be_called(verb):
    """Its attributes would lead to the names of the test."""
    with pytest.raises(ProtocolError):
        operate(lambda: 1, verb, ("__globals__",), {})
    assert operate(lambda x: x, "", (3,), {}) == 3


def test_the_class_decides_what_is_lent(item):
    """A description names the special methods of the class and nothing of its content."""
    ref = lend(item("a"), 3)
    assert (ref.number, ref.name, ref.classes) == (3, "Item", ["Item"]) and "__add__" in ref.methods
    assert lend(namedtuple, 0).name == "namedtuple"


@pytest.mark.parametrize(("kind", "number"), [("lent", 0), ("container", 0), ("tensor", 7), ("object", 0)])
def test_a_forged_number_of_an_argument_is_refused(kind, number):
    """Outside of a call, and beyond what the test handed over."""
    client = RpcClient(None)
    with pytest.raises(ProtocolError, match="got no"):
        client._resolve(GivenRef(kind=kind, number=number), [])
