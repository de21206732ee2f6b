"""Whatever student code does to the arguments of a call happens to those of the test, as in one process."""

import textwrap
from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction

import numpy as np
import pandas
import pytest
import torch

from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same, described

TENSOR = [
    *("x[0] = 7", "x.data[0] = 7", "x.detach()[0] = 7", "x.add_(7)", "x.numpy()[0] = 7", "x.data = x.data + 7"),
    *("x.data = x.data.double()", "x = x + 1", "x.unsqueeze(1)", "x.unsqueeze_(1)", "x.t_()", "x.resize_(3)"),
    *(f"with torch.no_grad():\n    {write}" for write in ("x[0] = 7", "x.zero_()", "x.unsqueeze_(1)", "x.t_()")),
]
ARRAY = [
    *(
        "x += 1",
        "x[:] = 0",
        "x[...] = 5",
        "x.sort()",
        "x[x > 2] = 0",
        "np.add(x, 1, out=x)",
        "x.fill(7)",
        "x[0] = x[1]",
    ),
    *("x.T[0] = 9", "x.flat[1] = 4", "np.random.default_rng(0).shuffle(x)", "x = x + 1", "x.copy()[0] = 1"),
    *("x.astype(float)[0] = 1", "sorted(x.ravel())"),
]
IN_MEMORY = [
    *("x.reshape(-1)[0] = 8", "x.ravel()[0] = 8", "x.shape = (3, 2)"),
    "x.dtype = 'int32' if x.itemsize == 4 else 'int64'",
]
"""Writes whose effect depends on memory that does not cross for a reversed array, which arrives in order."""
WRITES = {
    "x = torch.arange(6.0).reshape(2, 3)": TENSOR,
    "x = torch.arange(6.0).reshape(2, 3).requires_grad_()": TENSOR,
    "x = torch.ones(2, 3, requires_grad=True) * 2": TENSOR,
    "whole = torch.ones(4, 4)\nx = whole[1:3, ::2]": ["x.zero_()", "x[0] = 7"],
    "x = np.array([[3, 1, 2], [6, 5, 4]])": ARRAY + IN_MEMORY,
    "x = np.array([[3.0, np.nan, 2.0], [6.0, -0.0, 4.0]])": ARRAY + IN_MEMORY,
    "x = np.asfortranarray([[3, 1, 2], [6, 5, 4]])": ARRAY + IN_MEMORY,
    "whole = np.arange(24).reshape(4, 6)\nx = whole[::2, 5::-2]": ARRAY,
    "x = np.array([['c', 'ab', 'b'], ['f', 'e', 'd']])": ARRAY + IN_MEMORY[:-1],
    "whole = np.ones((4, 4))\nx = whole[1]": ["x[:] = 0"],
    "x = np.zeros(3)\nx.flags.writeable = False": ["x[0] = 7"],
    "import pandas\nx = pandas.DataFrame({'n': [1, 3], 'k': [1.0, 2.0]})": [
        *("x['m'] = 1", "x.index = ['a', 'b']", "del x['n']", "x.iloc[0, 0] = 9", "x = x.assign(m=1)"),
    ],
    "inner, names = [2], {'a': 1}\nx = [inner, names]": [
        *("x.reverse()", "x[0].append(3)", "x[1]['b'] = (torch.zeros(1), 'c')", "x[1].pop('a')", "x.clear()"),
        *("x[1]['a'] = 1", "x = [4]"),
    ],
    "array = np.zeros(3)\nx = [array]": ["x[0][0] = 7"],
    "array = np.zeros(3)\nx = (array,)": ["x[0][0] = 7"],
    "array = np.zeros(3)\nx = {'a': [array]}": ["x['a'][0][0] = 7"],
    "x = {1, 2}": ["x.add(3)", "x.discard(1)", "x = x | {5}"],
    "x = deque([1, 2], 3)": ["x.appendleft(0); x.append(9); x.rotate(1)"],
    "x = bytearray(b'ab')": ["x[0] = 99"],
    "x = Counter('aab')": ["x.update('b'); x['c'] -= 1"],
    "x = OrderedDict(a=1, b=2)": ["x.move_to_end('a')"],
    "x = defaultdict(list)": ["x['k'].append(1)"],
    "x = [{1}, deque([[2]])]": ["x[0].add(2); x[1][0].append(3)"],
}
"""What a test hands over, and what student code does to it."""


@pytest.mark.parametrize(("given", "writes"), WRITES.items(), ids=WRITES)
def test_a_write_into_an_argument_is_seen(student, given, writes):
    """However student code writes, and whatever it raises, the test's own argument is then what it is on stock."""
    source = "import numpy as np\nimport torch\n" + "\n".join(
        f"def f{number}(x):\n    try:\n{textwrap.indent(write, ' ' * 8)}\n    except Exception as error:\n"
        "        return type(error).__name__\n    return None if isinstance(x, torch.Tensor) else x, type(x).__name__"
        for number, write in enumerate(writes)
    )
    remote, local = student(source), {}
    exec(source, local)
    for number, write in enumerate(writes):
        for by_name in (False, True):
            found = []
            for f in (local[f"f{number}"], remote[f"f{number}"]):
                names = {"np": np, "torch": torch} | {cls.__name__: cls for cls in (Counter, OrderedDict, deque)}
                names["defaultdict"] = defaultdict
                before = set(names) | {"__builtins__"}
                exec(given, names)
                old = [described(each) for name, each in names.items() if name not in before]
                remote.client.wrote = False
                returned = f(x=names["x"]) if by_name else f(names["x"])
                new = [described(each) for name, each in names.items() if name not in before]
                found.append((new, described(returned)))
            assert found[1] == found[0], write
            assert remote.client.wrote == (new != old) or "pandas" in given, write


def test_tensors_and_arrays_in_a_collection_keep_their_identity(student):
    """A list from which an item was removed, or in which one was changed, still holds the very items of the test."""
    remote = student("def drop(x):\n    x['b'].pop()\n    x['b'][0][0] = 7")
    for a, b in ((torch.ones(2), torch.ones(3)), (np.ones(2), np.ones(3))):
        given = {"a": [a, b], "b": [a, b]}
        remote["drop"](given)
        assert given["a"][0] is given["b"][0] is a and given["a"][1] is b and len(given["b"]) == 1 and a[0] == 7


SAME = "(x[0].__iadd__(1) is x[1], x[1])"
USES = {
    "one tensor given twice": f"x = torch.zeros(2)\nis_same, y = get('{SAME}', x, x)",
    "one array given twice": f"x = np.zeros(2)\nis_same, y = get('{SAME}', x, x)",
    "a reversed column": f"whole = np.ones((4, 4))\nx = whole[:, 2][::-1]\nis_same, y = get('{SAME}', x, x)",
    "an array for results": """
        out = np.zeros((2, 3))
        returned = get("np.multiply(x[0], 2, out=x[1])", np.arange(3.0), out)
        with pytest.raises(ValueError, match="broadcast"):
            get("np.multiply(x[0], 2, out=x[1])", np.zeros((3, 3)), out)
    """,
    "arrays that are read-only, of objects or masked": """
        frozen, second = get("(x.setflags(write=False), x)[1]", np.zeros(2)), np.array([{}, (1, 2)], dtype=object)
        found = get("x[1]", second), get("float(x.mean())", np.ma.array([1, 2, 9], mask=[0, 0, 1]))
    """,
    "types": """
        types = get("x", int) is int, get("type(x)", np.zeros(1)) is np.ndarray
        dtype = get("x", np.dtype("float32")) == np.float32
    """,
    "dicts that make their values": """
        from collections import defaultdict
        made, given = get("__import__('collections').defaultdict(lambda: 'none', {1: 2})"), defaultdict(lambda: [4])
        found = get("x[1]", made), made[1], made["missing"], get("x[3]", given), given[3], get("x[3]", defaultdict(int))
    """,
}


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_arrays_and_dicts_are_used_as_in_one_process(student, test):
    """Given twice, as `out`, read-only, masked, of objects; types are types, and a defaultdict keeps its factory."""
    assert_same(student, "", test)


def test_values_of_standard_types_keep_their_class_on_both_sides(student):
    """A set is no list of a set, and a type is a type: a test may ask `f(x) is int`."""
    echo = student("def echo(x):\n    return x, type(x).__name__, type(x)")["echo"]
    values = [
        *(None, True, False, 0, -(2**70), 1, 1.0, 1.5, "", "naïve \N{SNOWMAN}", [], (), {}, [1, (2, [3])], (None,)),
        *({"a": [1], 2: (3,), (4, 5): "six", None: True}, slice(1, None, -2), torch.float64, torch.bool, {1}, ...),
        *(frozenset({2}), 1 + 2j, range(2, 9, 3), b"a", Fraction(1, 3), Counter("ab"), np.float32(1), np.int64(3)),
        *([np.float32(0.5)], float("-inf"), np.bool_(True)),
    ]
    for value in values:
        returned, name, kind = echo(value)
        assert returned == value and type(returned) is type(value) and name == type(value).__name__
        assert kind is type(value) or value is None or isinstance(value, slice | torch.dtype)
        assert described(returned) == described(value)
    assert str(echo(float("nan"))[0]) == "nan"


def test_an_array_that_cannot_cross_is_refused_where_it_arises(student):
    """The test's own argument is an error of the test, a result or a lost change is one of student code."""
    remote = student(
        "import numpy as np\ndef long(x=None):\n    return np.ones(1, np.longdouble)\n"
        "def spoil(x):\n    x[0] = 7\ndef mix(x):\n    x['m'] = [object()] * 2"
    )
    for refused, match in (
        (lambda: remote["long"](), "dtype (float128|longdouble)"),
        (lambda: remote["spoil"](np.array([{}, (1, 2)], dtype=object)), "changed the ndarray"),
        (lambda: remote["mix"](pandas.DataFrame({"n": [1, 3]})), "changed the DataFrame"),
    ):
        with pytest.raises(StudentError, match=match):
            refused()
    with pytest.raises(Exception, match="dtype (float128|longdouble)") as caught:
        remote["long"](np.ones(1, np.longdouble))
    assert not isinstance(caught.value, StudentError)
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only") as caught:
        remote["spoil"](x)
    assert isinstance(caught.value, StudentError) and caught.value.info.frames[-1].text == "x[0] = 7" and not x.any()
