"""What student code does to the arrays and containers of a test happens to them, as in one process."""

from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction

import numpy as np
import pytest

from grader.engine.runner.standins.errors import StudentError

WRITES = [
    "x += 1",
    "x[:] = 0",
    "x[...] = 5",
    "x.sort()",
    "x[x > 2] = 0",
    "np.add(x, 1, out=x)",
    "x.fill(7)",
    "x[0] = x[1]",
    "x.T[0] = 9",
    "x.flat[1] = 4",
    "np.random.default_rng(0).shuffle(x)",
    "x.reshape(-1)[0] = 8",
    "x.ravel()[0] = 8",
    "x.shape = (3, 2)",
    "x = x + 1",
    "x.copy()[0] = 1",
    "x.astype(float)[0] = 1",
    "sorted(x.ravel())",
    "x.dtype = 'int32' if x.itemsize == 4 else 'int64'",
]
GIVEN = {
    "whole": lambda: np.array([[3, 1, 2], [6, 5, 4]]),
    "floats": lambda: np.array([[3.0, np.nan, 2.0], [6.0, -0.0, 4.0]]),
    "Fortran order": lambda: np.asfortranarray([[3, 1, 2], [6, 5, 4]]),
    "a part": lambda: np.arange(24).reshape(4, 6)[::2, 5::-2],
    "text": lambda: np.array([["c", "ab", "b"], ["f", "e", "d"]]),
}

UNLIKE = {
    # A reversed array arrives as one in order, which has another memory.
    GIVEN["a part"]: (".shape", "reshape", "ravel", "dtype"),
    GIVEN["text"]: ("dtype",),
}
"""Writes whose effect depends on memory that does not cross."""


@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN)
def test_a_write_into_an_array_is_seen(student, give):
    """However student code writes, and whatever it returns or raises, the test's own array is what it is on stock."""
    functions = [
        f"def f{number}(x):\n    try:\n        {write}\n    except Exception as e:\n        return type(e).__name__"
        for number, write in enumerate(WRITES)
    ]
    source = "import numpy as np\n" + "\n".join(functions)
    remote = student(source)
    local: dict = {}
    exec(source, local)
    for number, write in enumerate(WRITES):
        if any(part in write for part in UNLIKE.get(give, ())):
            continue
        here, there = give(), give()
        raised = local[f"f{number}"](here)
        remote.client.wrote = False
        assert remote[f"f{number}"](there) == raised, write
        assert (there.dtype, there.shape, there.tobytes()) == (here.dtype, here.shape, here.tobytes()), write
        old = give()
        is_changed = (here.dtype, here.shape, here.tobytes()) != (old.dtype, old.shape, old.tobytes())
        assert remote.client.wrote == is_changed, write


def test_a_write_into_an_array_inside_of_something_is_seen(student):
    """In a list, a dict, a tuple, by name, and as `out`; the array in the list stays the test's own."""
    remote = student(
        "import numpy as np\ndef spoil(x):\n    (x['a'][0] if isinstance(x, dict) else x[0])[0] = 7\n"
        "def into(x, *, out):\n    return np.multiply(x, 2, out=out)\n"
        "def both(x, y):\n    x += 1\n    return x is y, y\n"
    )
    for wrap in (lambda x: [x], lambda x: (x,), lambda x: {"a": [x]}):
        x = np.zeros(3)
        given = wrap(x)
        remote["spoil"](given)
        assert x.tolist() == [7, 0, 0] and (given["a"] if isinstance(given, dict) else given)[0] is x
    out = np.zeros((2, 3))
    returned = remote["into"](np.arange(3.0), out=out)
    assert out.tolist() == [[0, 2, 4]] * 2 == returned.tolist()
    with pytest.raises(ValueError, match="broadcast"):
        remote["into"](np.zeros((3, 3)), out=out)
    same, y = remote["both"](x, x)
    assert same and y.tolist() == x.tolist() == [8, 1, 1]


def test_a_write_into_a_part_reaches_the_whole(student):
    """A test that hands over a row sees the write in the matrix."""
    remote = student("def spoil(x):\n    x[:] = 0")
    whole = np.ones((4, 4))
    remote["spoil"](whole[1])
    remote["spoil"](whole[:, 2][::-1])
    assert whole.sum() == 9 and not whole[1].any() and not whole[:, 2].any()


def test_a_read_only_array_stays_read_only(student):
    """A write raises in student code, at its own line, as on stock."""
    remote = student("def spoil(x):\n    x[0] = 7\ndef frozen(x):\n    x.flags.writeable = False\n    return x")
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only") as caught:
        remote["spoil"](x)
    assert isinstance(caught.value, StudentError) and caught.value.info.frames[-1].text == "x[0] = 7"
    assert not x.any() and not remote["frozen"](np.zeros(2)).flags.writeable


def test_an_array_of_another_dtype_is_refused_where_it_arises(student):
    """The test's own argument is an error of the test, and a result is one of student code; both name the dtype."""
    remote = student("import numpy as np\ndef long(x=None):\n    return np.ones(1, np.longdouble)")
    with pytest.raises(StudentError, match="dtype (float128|longdouble)"):
        remote["long"]()
    with pytest.raises(Exception, match="dtype (float128|longdouble)") as caught:
        remote["long"](np.ones(1, np.longdouble))
    assert not isinstance(caught.value, StudentError)


def test_arrays_of_objects_and_masked_ones_arrive(student):
    """As copies; a change of one is an error that names the type."""
    remote = student(
        "def second(x):\n    return x[1]\ndef mean(x):\n    return float(x.mean())\ndef spoil(x):\n    x[0] = 7"
    )
    assert remote["second"](np.array([{}, (1, 2)], dtype=object)) == (1, 2)
    assert remote["mean"](np.ma.array([1, 2, 9], mask=[0, 0, 1])) == 1.5
    with pytest.raises(StudentError, match="changed the ndarray"):
        remote["spoil"](np.array([{}, (1, 2)], dtype=object))


CONTAINERS = [
    (lambda: {1, 2}, "x.add(3)", {1, 2, 3}),
    (lambda: {1, 2}, "x.discard(1)", {2}),
    (lambda: {1, 2}, "x = x | {5}", {1, 2}),
    (lambda: deque([1, 2], 3), "x.appendleft(0); x.append(9); x.rotate(1)", deque([9, 1, 2], 3)),
    (lambda: bytearray(b"ab"), "x[0] = 99", bytearray(b"cb")),
    (lambda: Counter("aab"), "x.update('b'); x['c'] -= 1", Counter({"a": 2, "b": 2, "c": -1})),
    (lambda: OrderedDict(a=1, b=2), "x.move_to_end('a')", OrderedDict(b=2, a=1)),
    (lambda: defaultdict(list), "x['k'].append(1)", defaultdict(list, {"k": [1]})),
    (lambda: [{1}, deque([[2]])], "x[0].add(2); x[1][0].append(3)", [{1, 2}, deque([[2, 3]])]),
]


@pytest.mark.parametrize(("give", "write", "right"), CONTAINERS, ids=[write for _, write, _ in CONTAINERS])
def test_a_write_into_a_container_is_seen(student, give, write, right):
    """The test's own set, deque or dict of another class changes; it keeps its class in both processes."""
    remote = student(f"def spoil(x):\n    kind = type(x).__name__\n    {write}\n    return x, kind")
    given = give()
    returned, kind = remote["spoil"](given)
    assert type(given) is type(right) and given == right and kind == type(right).__name__
    assert type(returned) is type(right)
    assert list(given) == list(right)


def test_values_of_standard_types_keep_their_class_on_both_sides(student):
    """A set is no list of a set, and a type is a type: a test may ask `f(x) is int`."""
    remote = student(
        "def echo(x):\n    return x\ndef name(x):\n    return type(x).__name__\ndef kind(x):\n    return type(x)"
    )
    for value in ({1}, frozenset({2}), 1 + 2j, range(2, 9, 3), b"a", Fraction(1, 3), Counter("ab"), ..., np.float32(1)):
        assert remote["name"](value) == type(value).__name__ and remote["kind"](value) is type(value)
        echo = remote["echo"](value)
        assert echo == value and type(echo) is type(value)
    assert remote["kind"](np.zeros(1)) is np.ndarray
    assert remote["echo"](np.dtype("float32")) == np.float32


def test_a_defaultdict_keeps_its_factory(student):
    """A type as it is, and a function of either side as a call to that side."""
    remote = student(
        "from collections import defaultdict\n"
        "def new():\n    d = defaultdict(lambda: 'none')\n    d[1] = 2\n    return d\n"
        "def look(d, key):\n    return d[key]"
    )
    answer = remote["new"]()
    assert answer[1] == 2 and answer["missing"] == "none"
    given = defaultdict(lambda: [4])
    assert remote["look"](given, 3) == [4] and given == {3: [4]}
    assert remote["look"](defaultdict(int), 3) == 0
