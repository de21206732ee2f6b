"""What the sandbox claims about a class decides nothing in the runner that a value of the test should decide."""

import collections.abc
import inspect
import itertools
import operator

import numpy
import pytest
import torch
from torch import nn

from grader.engine.notebook.names import classes_defined
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import ClassDescription, ObjectHandle
from grader.engine.rpc.operations import BINARY, COMPARISONS
from grader.engine.runner.standins.classes import DATA
from grader.engine.runner.standins.client import RpcClient

YES = """
class Yes:
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __add__ = __sub__ = __rsub__ = __mul__ = __abs__ = lambda self, *other: self
    __contains__ = lambda self, item: True
    __hash__ = object.__hash__
    def sum(self, *axis): return 1
def f(x): return Yes()
class g(Yes):
    def __init__(self, x): pass
"""
VALUES = [3, 0.5, True, "x", None, [1], (1, 2), {"a": 1}, torch.ones(2), numpy.float32(2)]


@pytest.mark.parametrize("name", ["f", "g"])
def test_an_object_that_agrees_with_everything_equals_no_value(student, name):
    """Neither as the result of a function nor in its place: the author's own answer has no such operation."""
    remote = student(YES)
    remote.client.our_classes = classes_defined(
        "class Vector:\n    def __eq__(self, other): ...\n    def sum(self): ..."
    )
    got = remote[name](3)
    for value in VALUES:
        for compare in (operator.eq, operator.lt, operator.ge, operator.sub, operator.add):
            for operands in ((got, value), (value, got)):
                with pytest.raises((TypeError, RuntimeError)):
                    assert compare(*operands) is NotImplemented
        with pytest.raises(TypeError):
            assert value in got
    assert got == got and got in [got]  # noqa: PLR0124
    with pytest.raises(TypeError, match="needs a tensor"):
        got.sum(-1)


def test_an_object_answers_for_itself_where_the_authors_class_does(student):
    """The test names the class, and the author's class has the operation; a class of another name has it in vain."""
    remote = student(YES.replace("class Yes", "class Money").replace("Yes", "Money"))
    remote.client.our_classes = classes_defined(
        "class Money:\n    def __eq__(self, other): ...\n    def sum(self): ..."
    )
    unnamed = remote["f"](1)
    with pytest.raises(TypeError, match="needs a value"):
        assert unnamed == 3
    money = remote["Money"]()
    assert money == 3 and money.sum(-1) == 1
    with pytest.raises(TypeError, match="needs a value"):
        money < 3  # noqa: B015


NUMBERS = """
class Number:
    def __init__(self, n): self.n = n
    __hash__ = None
    def __repr__(self): return f"Number({self.n})"
"""
METHODS = {f"__{name}__": f"lambda self, other: ('{name}', self.n, getattr(other, 'n', other))" for name in BINARY} | {
    name: f"lambda self, other: getattr(other, 'n', other) if '{name}' else 0" for name in COMPARISONS
}
OPERATIONS = {**BINARY, **COMPARISONS}
OPERANDS = [1, -0.5, "x", None, [1], (1,)]


@pytest.mark.parametrize("missing", sorted(METHODS))
def test_operators_are_those_of_one_process(in_both, missing):
    """Every operator on every pair of operands has the value, or the error, of one process; one method is missing."""
    lines = [f"    {name} = {made}" for name, made in METHODS.items() if name != missing]
    lines += [f"    __r{name}__ = {METHODS[f'__{name}__']}" for name in BINARY if f"__r{name}__" != missing]
    source = NUMBERS + "\n".join(lines)
    local, remote = in_both(source)
    remote.client.our_classes = classes_defined(source)
    of = missing.strip("_")
    name = of if of in OPERATIONS else missing
    for operand, swapped in itertools.product((*OPERANDS, "Number"), (False, True)):
        outcomes = []
        for Number in (local["Number"], remote["Number"]):
            pair = [Number(2), Number(5) if operand == "Number" else operand]
            outcomes.append(_outcome(OPERATIONS[name], *(reversed(pair) if swapped else pair)))
        assert outcomes[0] == outcomes[1], (operand, swapped)


def _outcome(operation, left, right):
    try:
        return repr(operation(left, right))
    except TypeError as error:
        return TypeError, str(error)


def _described(client, *classes):
    return client._object(ObjectHandle(object_id=99, name="x", of=[ClassDescription(*each) for each in classes]))


@pytest.mark.parametrize("data", DATA)
def test_no_object_poses_as_a_value(data):
    """Whatever a sandbox claims of the object's class: the values of these classes cross as copies."""
    client = RpcClient(None)
    name = f"{data.__module__}:{data.__qualname__}"
    with pytest.raises(ProtocolError):
        _described(client, (1, data.__name__, [], [], name))
    posing = _described(client, (2, "base", [], [], name), (3, data.__name__, [], [2], ""))
    assert not isinstance(posing, data) and type(posing) is not data and not issubclass(type(posing), data)
    assert type(posing) not in (data,)


@pytest.mark.parametrize(
    "library",
    [
        *("unittest.mock:_ANY", "unittest.mock:ANY", "_pytest.python_api:ApproxScalar", "builtins:eval", "os:system"),
        *("grader.engine.rpc.protocol:ProtocolError", "unittest.case:SkipTest", "builtins:BaseException", "x:y", ":"),
        *("builtins:SystemExit", "builtins:KeyboardInterrupt", "_pytest.outcomes:Skipped", "builtins:StopIteration"),
        *("torch.nn.modules.module:Module", "abc:ABC", "builtins:type", "enum:Enum", "numbers:Number", "a" * 10_000),
    ],
)
def test_a_claimed_base_brings_no_behaviour(library):
    """The class of a library that compares with anything, or ends a test, is no base of a stand-in."""
    client = RpcClient(None)
    try:
        item = _described(client, (1, "Base", [], [], library), (2, "Own", [], [1], ""))
    except ProtocolError:
        return
    assert item != 9 and item not in (9,) and not isinstance(item, nn.Module)
    assert not isinstance(item, SystemExit | KeyboardInterrupt | StopIteration | ProtocolError)
    assert [base for base in type(item).mro() if base.__module__ in ("unittest.mock", "unittest.case")] == []


def test_an_abstract_base_brings_a_name_and_no_methods():
    """isinstance sees it; what its methods would do stays the student's."""
    client = RpcClient(None)
    named = "torch.utils.data.dataset:Dataset"
    item = _described(client, (1, "Dataset", [], [], named), (2, "Own", ["__len__"], [1], ""))
    assert isinstance(item, torch.utils.data.Dataset) and isinstance(item, collections.abc.Sized)
    with pytest.raises(TypeError):
        item + item
    with pytest.raises(TypeError):
        item[0]


@pytest.mark.parametrize("bases", [[7], [2], [3]])
def test_a_class_follows_its_bases(bases):
    """A class that is its own base, or has one that was not described, breaks the protocol."""
    with pytest.raises(ProtocolError):
        _described(RpcClient(None), (2, "A", [], bases, ""), (3, "B", [], [2], ""))


def test_names_and_methods_of_a_class_are_bounded():
    """A name is an identifier of forty characters; a method that is none of Python's is ignored."""
    odd = ["__torch_function__", "__array__", "__class__", "__getattribute__", "__init__", "__del__", "x", "__len__"]
    item = _described(RpcClient(None), (1, "seen: 1, 2", odd, [], ""))
    assert type(item).__name__ == "object" and hasattr(item, "__len__") and not hasattr(item, "__array__")
    assert not hasattr(type(item), "__torch_function__")
    assert len(type(_described(RpcClient(None), (1, "a" * 999, [], [], ""))).__name__) == 40
    with pytest.raises(ProtocolError):
        RpcClient(None)._object(ObjectHandle(object_id=1, name="m", of=[ClassDescription(0, "m", [], [], MODULE)]))


MODULE = "torch.nn.modules.module:Module"


def test_the_source_of_a_function_is_that_of_its_cell(student):
    """Many a test asks whether an answer has a loop; a function without a source has none here, either."""
    remote = student(
        "def f(x):\n    for each in x:\n        pass\n    return 1\n\nclass A:\n    def m(self):\n        return [1]\n"
        "h = eval('lambda: 1')\n"
    )
    assert inspect.getsource(remote["f"]) == "def f(x):\n    for each in x:\n        pass\n    return 1\n"
    assert inspect.getsource(remote["A"]().m) == inspect.getsource(remote["A"].m) == "def m(self):\n    return [1]\n"
    with pytest.raises(OSError, match="source"):
        inspect.getsource(remote["h"])


def test_a_class_of_the_test_cannot_derive_from_a_students(student):
    """The error says what to do."""
    with pytest.raises(TypeError, match="tag the cell `together`"):
        type("Sub", (student("class A: pass")["A"],), {})
