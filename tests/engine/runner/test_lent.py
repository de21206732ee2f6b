"""A test hands over objects of its own, and gets back the same objects; student code reaches nothing else by them."""

import sys

import pytest
import torch

from grader.engine.grading import grade
from grader.engine.report import Verdict
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import GivenRef
from grader.engine.rpc.objects.lent import operate
from grader.engine.rpc.operations import OPERATIONS
from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same
from tests.support.notebooks import answer, helpers, hidden, notebook

pytestmark = pytest.mark.slow

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
class Shop:
    def __init__(self): self.items = []
    def keep(self, item): self.items.append(item)
    def find(self, name): return next(each for each in self.items if each.name == name)
def inside(x):
    with x as opened:
        raise KeyError(opened.name)
def twice(f):
    import functools
    @functools.wraps(f)
    def inner(*args):
        return f(f(*args))
    return inner
def reach(x, *path):
    for name in path:
        x = getattr(x, name)
    return x
def generate(model, tokens, n, *, temperature=1.0):
    for _ in range(n):
        logits = model(tokens[None], temperature=temperature)
        tokens = torch.cat((tokens, logits[0, -1].argmax()[None]))
    return tokens
def learns(model, x):
    weight = torch.ones(2, requires_grad=True)
    (model(weight * x) * weight).sum().backward()
    return weight.grad
"""
MADE = """
import io
from types import SimpleNamespace
from unittest.mock import Mock
"""
USES = {
    "an object": f"""{OURS}
one, other = Item("b", 2.0), Item("a")
found = get("(x.name, type(x).__name__, len(x), vars(x)['name'])", one)
least, first = get("min(x, key=lambda item: item.price)", [one, other]), get("sorted(x)", [one, other])[0]
added = get("x[0] + x[1]", one, other)
assert least is other and first is other and type(added) is Item
sums = added.name, added.price
do("x.name = 'c'", one)
entered = inside(one), one.name, one.is_open
del Item, one, other, least, first, added
""",
    "an object that is kept": f"""{OURS}
shop, one = Shop(), Item("b")
shop.keep(one)
shop.keep(Item("a"))
found = shop.find("b") is one, len(shop.items)
one.name = "z"
again = shop.find("z") is one
""",
    "a missing attribute": f"{OURS}\none = Item('b')\nget('x.colour', one)",
    "functions": """
        def ours(x, *, scale=2):
            "Scale."
            return scale * x
        import inspect
        wrapped, parameters = twice(ours), "list(__import__('inspect').signature(x).parameters)"
        found = get(f"(x.__name__, x.__doc__, {parameters})", ours), get("x", ours) is ours, wrapped(3)
        copied = wrapped.__name__, wrapped.__doc__, list(inspect.signature(wrapped).parameters)
    """,
    "files, iterators and mocks": f"""{MADE}
out, items, plain, mock = io.StringIO(), iter([1, 2, 3]), SimpleNamespace(name="a"), Mock()
do("print('more', file=x)", out)
read = out.getvalue(), get("[line.strip() for line in x]", io.StringIO("a\\nb\\n"))
taken = get("next(x)", items), next(items)
do("x.name = 'b'", plain)
mock.name.return_value = 3
name, called = plain.name, get("x.name", mock)()
mock.name.assert_called_once_with()
""",
    "calls are counted": """
        lengths = []
        class Counting:
            def __call__(self, tokens, *, temperature):
                lengths.append((tokens.shape[1], temperature))
                return nn.functional.one_hot((tokens + 1) % 7, 7) / temperature
        found = generate(Counting(), torch.tensor([3, 4]), 6, temperature=0.5)
    """,
    "gradients flow": """
        layer = nn.Linear(2, 2)
        function = lambda x, layer=layer: layer(x)
        made, written = (get(f"x[0](x[1]){more}", function, torch.ones(1, 2)) for more in ("", ".mul_(2)"))
        learnt = learns(lambda x: 3 * x, torch.ones(2))
        made, written, requires_grad = made.tolist(), written.tolist(), (made.requires_grad, written.requires_grad)
    """,
} | {
    f"results in {dtype}": f"""
        x, turned = torch.arange(6).reshape(2, 3), lambda x: x.to({dtype}).T
        made = get("(lambda y: (y, str(y.dtype), y.requires_grad, y.stride()))(x[0](x[1]))", turned, x)
    """
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)
} | {
    f"{made} that comes back": f"""{MADE}
given = {made}
alone, (first, second, third) = get("x", given), get("[x, {{'x': x}}, (x,)]", given)
same = alone is given, first is given, second["x"] is given, third[0] is given
if not isinstance(given, io.StringIO | Mock):
    copied = get("x.copy() if hasattr(x, 'copy') else x.clone()", given) is given
    items, alone = [], None
    held = get("x[0].append(x[1]) or x[0]", items, given) is items, items[0] is given
"""
    for made in ("[]", "{}", "set()", "np.zeros(2)", "torch.zeros(2)", "io.StringIO()", "Mock()")
}  # fmt: skip


@pytest.fixture
def item():
    """The class of a test, which runs in the module `__main__`."""
    names = {"__name__": "__main__"}
    exec(OURS, names)
    return names["Item"]


@pytest.mark.parametrize("use", USES)
def test_student_code_uses_objects_of_the_test(student, use):
    """It reads, sets, operates and calls, as in one process; what comes back, alone or in a list, is its own."""
    assert_same(student, CODE, USES[use], ends="missing" in use)


def test_a_class_of_a_read_only_cell_is_one_class(student, item):
    """It has run in both processes: `isinstance` holds for objects of each in the other."""
    remote = student(
        OURS + "class Sale(Item): pass\ndef make(name): return Item(name)\ndef is_item(x): return isinstance(x, Item)"
    )
    remote.client.read_only_classes = {"Item": item}
    remote.client.our_classes = {"Item": frozenset(("__eq__",))}
    assert remote["is_item"](item("a")) and not remote["is_item"](3)
    assert isinstance(remote["make"]("a"), item) and remote["make"]("a") == item("a") != remote["make"]("b")
    assert issubclass(remote["Sale"], item) and isinstance(remote["Sale"]("a"), item)


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


@pytest.mark.parametrize(("kind", "number"), [("lent", 0), ("container", 0), ("tensor", 7), ("object", 0)])
def test_a_forged_number_of_an_argument_is_refused(kind, number):
    """Outside of a call, and beyond what the test handed over."""
    client = RpcClient(None)
    with pytest.raises(ProtocolError, match="got no"):
        client._resolve(GivenRef(kind=kind, number=number), [])


MANY = 3_000
"""Calls in one call of the student's code."""


def test_student_code_may_call_a_function_thousands_of_times():
    """In one test, for every student, also where the answer cache knows the outcome or the messages are many."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("walk", "### BEGIN SOLUTION\ndef walk(step, x):\n    while x < 5_000:\n        x = step(x)\n"
               "    return x\n### END SOLUTION"),
        hidden("walk-test-steps", "One step at a time.", f"""
calls = 0

def step(x):
    global calls
    calls += 1
    return x + 1

assert walk(step, torch.tensor({5_000 - MANY})) == 5_000 and calls == {MANY}, f'{{calls}} steps'
"""),
    )  # fmt: skip
    for _ in range(2):
        [result] = grade(source, source).results
        assert result.verdict is Verdict.PASSED, result.message
