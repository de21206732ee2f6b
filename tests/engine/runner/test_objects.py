"""A test of the student's classes and functions passes here exactly if it passes in one process.

Each case is what a course might hold: an answer, and a test of it. A wrong answer fails, here too.
"""

import contextlib
import textwrap

import pytest

from grader.engine.notebook.names import classes_defined, names_used

CASES = {
    "a linked list": (
        """
        class Node:
            def __init__(self, data, next=None): self.data, self.next = data, next
        class LinkedList:
            def __init__(self): self.head = None
            def append(self, data):
                if self.head is None: self.head = Node(data); return
                node = self.head
                while node.next: node = node.next
                node.next = Node(data)
            def __iter__(self):
                node = self.head
                while node:
                    yield node.data
                    node = node.next
            def push(self, data): self.head = Node(data, self.head); return self
            def pop(self):
                if self.head is None: raise IndexError("the list is empty")
                data, self.head = self.head.data, self.head.next
                return data
            def __len__(self): return sum(1 for _ in self)
            def __contains__(self, data): return data in list(self)
            def __str__(self): return " -> ".join(map(str, self))
        """,
        """
        import pytest
        l = LinkedList()
        assert l.head is None and len(l) == 0 and list(l) == [] and not l and callable(l.pop) and not callable(l)
        assert hasattr(l, "__len__") and hasattr(l, "push") and not hasattr(l, "__getitem__")
        with pytest.raises(IndexError, match="empty"):
            l.pop()
        assert l.push("c") is l and l and "c" in l and 5 not in l and l.pop() == "c"
        for item in (1, 2, 3): l.append(item)
        assert list(l) == [1, 2, 3] and len(l) == 3 and str(l) == "1 -> 2 -> 3"
        assert l.head.data == 1 and l.head.next.next.data == 3 and l.head.next.next.next is None
        assert isinstance(l.head, Node) and type(l.head).__name__ == "Node" and l.head is l.head
        assert sum(l) == 6 and max(l) == 3 and [2 * x for x in l] == [2, 4, 6] and 3 in l
        n = Node("x")
        n.next = l.head
        assert n.next is l.head and n.next.data == 1
        """,
        ("node.next = Node(data)", "self.head.next = Node(data)"),
    ),
    "dataclasses": (
        """
        from dataclasses import dataclass, field
        @dataclass(order=True)
        class Card:
            rank: int
            suit: str = "hearts"
            tags: list = field(default_factory=list, compare=False)
            def label(self): return f"{self.rank} of {self.suit}"
        class Deck: pass
        @dataclass(frozen=True)
        class Point:
            x: float
            y: float
        """,
        """
        import dataclasses, pytest
        assert [each.name for each in dataclasses.fields(Point)] == ["x", "y"] and dataclasses.is_dataclass(Point(1, 2))
        assert not dataclasses.is_dataclass(Deck) and dataclasses.replace(Point(1, 2), y=5).y == 5
        assert dataclasses.asdict(Point(1, 2)) == {"x": 1, "y": 2}
        a, b = Card(3), Card(5, "spades")
        assert a == Card(3, "hearts") and a != b and a < b and sorted([b, a]) == [a, b] and max(a, b) is b
        assert repr(a) == "Card(rank=3, suit='hearts', tags=[])" and a.label() == "3 of hearts"
        assert a.tags is not b.tags and a.tags == []
        assert {Point(1, 2): "p"}[Point(1, 2)] == "p" and hash(Point(1, 2)) == hash(Point(1, 2))
        with pytest.raises(AttributeError):
            Point(1, 2).x = 5
        with pytest.raises(TypeError):
            {a}
        with pytest.raises(TypeError):
            Card()
        a.rank = 9
        assert a.rank == 9 and vars(a)["rank"] == 9 and a.__dict__["suit"] == "hearts"
        assert Card.__annotations__["rank"] == int and set(Card.__annotations__) == {"rank", "suit", "tags"}
        """,
        ("rank: int", "rank: int = 4"),
    ),
    "inheritance": (
        """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            def __init__(self, name): self.name = name
            @abstractmethod
            def area(self): ...
            def describe(self): return f"{self.name} of {self.area()}"
        class Rectangle(Shape):
            def __init__(self, a, b): super().__init__("rectangle"); self.a, self.b = a, b
            def area(self): return self.a * self.b
        class Square(Rectangle):
            def __init__(self, a): super().__init__(a, a); self.name = "square"
        def make(kind): return {"square": Square}[kind](2)
        """,
        """
        import pytest, inspect
        from abc import ABC
        with pytest.raises(TypeError, match="abstract"):
            Shape("x")
        s = Square(3)
        assert s.area() == 9 and s.describe() == "square of 9"
        assert isinstance(s, Square) and isinstance(s, Rectangle) and isinstance(s, Shape) and isinstance(s, object)
        assert issubclass(Square, Rectangle) and issubclass(Square, Shape) and not issubclass(Rectangle, Square)
        assert issubclass(Shape, ABC) and isinstance(s, ABC)
        assert not isinstance(Rectangle(1, 2), Square) and not isinstance(3, Square) and not isinstance("x", Shape)
        assert type(s) is Square and type(s) == Square and type(s) is not Rectangle and s.__class__ is Square
        assert type(s).__name__ == "Square" and s.__class__.__name__ == "Square" and Square.__name__ == "Square"
        assert [c.__name__ for c in Square.__mro__][:3] == ["Square", "Rectangle", "Shape"]
        assert Square.__bases__ == (Rectangle,) and inspect.isclass(Square) and not inspect.isclass(s)
        assert type(make("square")) is Square and callable(Square)
        """,
        ("class Square(Rectangle):", "class Square(Shape):\n    area = lambda self: 9"),
    ),
    "exceptions": (
        """
        class BankError(Exception):
            pass
        class TooLittle(BankError):
            def __init__(self, needed, code=7):
                super().__init__(f"{needed} needed")
                self.needed, self.code = needed, code
        class Bad(ValueError): pass
        def pay(amount):
            if amount < 0: raise Bad("negative")
            if amount > 10: raise TooLittle(amount - 10)
            return amount
        """,
        """
        import pytest, unittest
        assert pay(3) == 3
        with pytest.raises(TooLittle) as caught:
            pay(15)
        assert str(caught.value) == "5 needed" and caught.value.needed == 5 and caught.value.code == 7
        assert caught.value.args == ("5 needed",) and caught.type is TooLittle
        try:
            pay(11)
        except Bad:
            raise AssertionError
        except BankError as error:
            assert type(error) is TooLittle and isinstance(error, BankError) and error.needed == 1
        with pytest.raises(ValueError):
            pay(-1)
        with pytest.raises(Bad, match="neg"):
            pay(-1)
        assert issubclass(TooLittle, Exception) and issubclass(TooLittle, BankError) and issubclass(Bad, ValueError)
        assert not issubclass(BankError, ValueError) and not issubclass(BankError, TooLittle)
        class T(unittest.TestCase):
            def test_it(self):
                with self.assertRaises(TooLittle):
                    pay(12)
                self.assertRaises(BankError, pay, 12)
        T("test_it").debug()
        error = TooLittle(3)
        assert error.needed == 3 and str(error) == "3 needed" and isinstance(error, TooLittle)
        with pytest.raises(BankError):
            raise error
        """,
        ("raise TooLittle(amount - 10)", "raise BankError(amount - 10)"),
    ),
    "a context manager": (
        """
        from contextlib import contextmanager
        class Timer:
            def __init__(self): self.log = []
            def __enter__(self): self.log.append("in"); return self
            def __exit__(self, kind, error, trace):
                self.log.append("out" if kind is None else kind.__name__)
                return kind is KeyError
        events = []
        @contextmanager
        def managed(name):
            events.append("open " + name)
            try:
                yield name.upper()
            finally:
                events.append("close " + name)
        def seen(): return events
        """,
        """
        import pytest
        with Timer() as t:
            assert t.log == ["in"] and isinstance(t, Timer)
        assert t.log == ["in", "out"]
        with t:
            raise KeyError("k")
        with pytest.raises(ValueError, match="mine"):
            with t:
                raise ValueError("mine")
        assert t.log == ["in", "out", "in", "KeyError", "in", "ValueError"]
        with managed("a") as name:
            assert name == "A"
        with pytest.raises(ZeroDivisionError):
            with managed("b"):
                1 / 0
        assert seen() == ["open a", "close a", "open b", "close b"]
        """,
        ("return kind is KeyError", "return True"),
    ),
    "generators and closures": (
        """
        def countdown(n):
            while n: yield n; n -= 1
        def counter():
            count = 0
            def step():
                nonlocal count
                count += 1
                return count
            return step
        def fibonacci():
            a, b = 0, 1
            while True:
                yield a
                a, b = b, a + b
        def compose(*fs):
            def composed(x):
                for f in reversed(fs): x = f(x)
                return x
            return composed
        """,
        """
        import inspect, itertools, pytest, types
        g = countdown(3)
        assert next(g) == 3 and list(g) == [2, 1] and iter(g) is g
        with pytest.raises(StopIteration):
            next(g)
        assert inspect.isgenerator(countdown(1)) and inspect.isgeneratorfunction(countdown)
        assert not inspect.isgeneratorfunction(counter) and isinstance(countdown(1), types.GeneratorType)
        assert list(itertools.islice(fibonacci(), 6)) == [0, 1, 1, 2, 3, 5]
        c = counter()
        assert (c(), c(), counter()()) == (1, 2, 1) and callable(c) and inspect.isfunction(c)
        assert compose(lambda x: x + 1, lambda x: 2 * x)(5) == 11
        assert sum(countdown(4)) == 10 and dict(zip("ab", countdown(2))) == {"a": 2, "b": 1}
        """,
        ("count += 1", "count = 1"),
    ),
    "enums and named tuples": (
        """
        from enum import Enum, IntEnum, auto
        from collections import namedtuple
        from typing import NamedTuple
        class Color(Enum):
            RED = 1
            GREEN = auto()
        class Level(IntEnum):
            LOW = 1
            HIGH = 2
        P = namedtuple("P", "x y")
        class Q(NamedTuple):
            a: int
            b: str = "b"
        def favourite(): return Color.GREEN
        """,
        """
        assert Color.RED.name == "RED" and Color.RED.value == 1 and Color.GREEN.value == 2
        assert favourite() is Color.GREEN and favourite() == Color.GREEN and favourite() != Color.RED
        assert [c.name for c in Color] == ["RED", "GREEN"] and len(Color) == 2 and Color(1) is Color.RED
        assert Color["GREEN"] is Color.GREEN and isinstance(Color.RED, Color) and Color.RED in Color
        assert {Color.RED: "r"}[Color.RED] == "r" and Color.RED in {Color.RED, Color.GREEN}
        assert str(Color.RED) == "Color.RED" and repr(Color.RED) == "<Color.RED: 1>"
        assert list(Color.__members__) == ["RED", "GREEN"]
        assert Level.LOW < Level.HIGH and Level.HIGH == 2
        p = P(1, y=2)
        assert p.x == 1 and p == (1, 2) and p._fields == ("x", "y") and Q(1) == (1, "b") and Q(2).b == "b"
        """,
        ("GREEN = auto()", "GREEN = 3"),
    ),
    "containers": (
        """
        class Matrix:
            def __init__(self, rows): self.rows = [list(row) for row in rows]
            @property
            def shape(self): return len(self.rows), len(self.rows[0])
            def __getitem__(self, key):
                if isinstance(key, tuple): return self.rows[key[0]][key[1]]
                if isinstance(key, slice): return Matrix(self.rows[key])
                return self.rows[key]
            def __setitem__(self, key, value): self.rows[key[0]][key[1]] = value
            def __delitem__(self, place): del self.rows[place]
            def __len__(self): return len(self.rows)
            def __eq__(self, other): return self.rows == other.rows
            def __matmul__(self, other):
                return Matrix([[sum(a * b for a, b in zip(row, col)) for col in zip(*other.rows)] for row in self.rows])
            def __add__(self, other):
                return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])
            def __iadd__(self, other):
                self.rows = (self + other).rows
                return self
            def transpose(self): return Matrix(zip(*self.rows))
            @property
            def T(self): return self.transpose()
            @staticmethod
            def identity(n): return Matrix([[int(i == j) for j in range(n)] for i in range(n)])
        class Poly:
            def __init__(self, *c): self.c = c
            def __call__(self, x): return sum(a * x ** i for i, a in enumerate(self.c))
            def __add__(self, other):
                other = other if isinstance(other, Poly) else Poly(other)
                n = max(len(self.c), len(other.c))
                pad = lambda c: (*c, *[0] * (n - len(c)))
                return Poly(*[a + b for a, b in zip(pad(self.c), pad(other.c))])
            __radd__ = __add__
            def __int__(self): return int(self.c[0])
            def __float__(self): return float(self.c[0])
            def __round__(self, n=None): return round(self.c[0], n)
            def __neg__(self): return Poly(*[-a for a in self.c])
            def __abs__(self): return max(map(abs, self.c))
            def __bool__(self): return any(self.c)
            def __eq__(self, other): return isinstance(other, Poly) and self.c == other.c
            def __hash__(self): return hash(self.c)
        """,
        """
        import copy, pytest, collections.abc
        m = Matrix([[1, 2], [3, 4]])
        assert m.shape == (2, 2) and m[0] == [1, 2] and m[1, 0] == 3 and m[0:1] == Matrix([[1, 2]]) and m[-1] == [3, 4]
        m[0, 0] = 9
        assert m[0, 0] == 9 and len(m) == 2 and [row[0] for row in m] == [9, 3]
        assert m.T == Matrix([[9, 3], [2, 4]]) and m.transpose().T == m and m @ Matrix.identity(2) == m
        before = m
        m += Matrix([[1, 1], [1, 1]])
        assert m is before and m[1, 1] == 5
        twin, same = copy.deepcopy(m), copy.copy(m)
        twin[0, 0] = 0
        assert m[0, 0] == 10 and same.rows == m.rows and twin != m and type(twin) is Matrix
        del m[0]
        assert len(m) == 1 and list(reversed(twin))[0] == [4, 5]
        with pytest.raises(TypeError):
            hash(m)
        with pytest.raises(IndexError):
            m[7]
        p = Poly(1.26, 2)
        assert p(2) == 5.26 and (p + Poly(1))(0) == 2.26 and (1 + p)(0) == 2.26 and sum([p, p])(0) == 2.52
        assert int(p) == 1 and float(p) == 1.26 and round(p, 1) == 1.3 and callable(p)
        assert -p == Poly(-1.26, -2) and abs(-p) == 2 and p and not Poly(0) and p != Poly(1) and p != "p" and p != None
        assert p in [Poly(1), Poly(1.26, 2)] and [Poly(1), p].index(Poly(1.26, 2)) == 1 and {p: 1}[Poly(1.26, 2)] == 1
        for wrong in (lambda: p - "x", lambda: p ** 2, lambda: len(p), lambda: p < p, lambda: p["x"]):
            with pytest.raises(TypeError):
                wrong()
        assert isinstance(m, collections.abc.Sized) and not isinstance(p, collections.abc.Sized)
        assert isinstance(p, collections.abc.Callable) and not isinstance(p, collections.abc.Iterable)
        """,
        ("self.rows = (self + other).rows", "self.rows = other.rows"),
    ),
    "introspection": (
        """
        class Dog:
            \"\"\"A dog.\"\"\"
            kind = "canine"
            count = 0
            def __init__(self, name, age=3): self.name, self.age = name, age; Dog.count += 1
            @property
            def years(self): return self.age
            @years.setter
            def years(self, value):
                if value < 0: raise ValueError(f"{value} is negative")
                self.age = value
            @classmethod
            def old(cls, name): return cls(name, 12)
            @staticmethod
            def valid(name): return len(name) == 3
            def __str__(self): return f"{self.name}: {self.age}"
            def bark(self, times: int = 1) -> str:
                \"\"\"Bark.\"\"\"
                return "woof " * times
        import functools
        def twice(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                wrapper.calls += 1
                f(*args, **kwargs)
                return f(*args, **kwargs)
            wrapper.calls = 0
            return wrapper
        @twice
        def greet(name: str, *, loud: bool = False): return name.upper() if loud else name
        @functools.lru_cache(maxsize=None)
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        built = len
        def area(r: float, pi=3.14, *rest, unit="m", **more) -> float:
            \"\"\"The area.\"\"\"
            return pi * r ** 2
        """,
        """
        import inspect, pytest
        assert greet("a") == "a" and greet("a", loud=True) == "A" and greet.calls == 2 and greet.__name__ == "greet"
        assert greet.__wrapped__.__name__ == "greet" and greet.__wrapped__.__kwdefaults__ == {"loud": False}
        assert inspect.signature(greet).parameters["loud"].kind is inspect.Parameter.KEYWORD_ONLY
        assert greet.__annotations__["name"] == str and greet.__module__ == "__main__" == greet.__wrapped__.__module__
        assert fib(30) == 832040 and fib.cache_info().hits > 0 and twice(lambda x: x)(3) == 3
        assert inspect.isbuiltin(built) and Dog.valid("Rex") and not Dog("Bo").valid("Bo") and Dog.count == 1
        d, old = Dog("Rex"), Dog.old("Max")
        old.years = 13
        assert old.years == 13 and isinstance(old, Dog) and str(old) == "Max: 13" and f"{old!s:>10}" == "   Max: 13"
        with pytest.raises(ValueError, match="-1 is negative") as caught:
            old.years = -1
        assert caught.value.args == ("-1 is negative",) and str(caught.value) == "-1 is negative" and Dog.count == 3
        Dog.kind, before = "wolf", Dog.kind
        assert old.kind == "wolf" and before == "canine" and getattr(old, "missing", 7) == 7
        Dog.kind = before
        del old.name
        assert not hasattr(old, "name")
        assert Dog.__doc__ == "A dog." == inspect.getdoc(Dog) == d.__doc__ and Dog.bark.__doc__ == "Bark."
        assert list(inspect.signature(Dog).parameters) == ["name", "age"]
        assert list(inspect.signature(Dog.__init__).parameters) == ["self", "name", "age"]
        assert list(inspect.signature(d.bark).parameters) == ["times"]
        assert list(inspect.signature(Dog.bark).parameters) == ["self", "times"]
        assert str(inspect.signature(area)) == "(r: float, pi=3.14, *rest, unit='m', **more) -> float"
        assert area.__name__ == "area" and area.__defaults__ == (3.14,) and area.__doc__ == "The area."
        assert inspect.isfunction(area) and inspect.ismethod(d.bark) and inspect.isfunction(Dog.bark)
        assert {"name", "age", "bark", "kind"} <= set(dir(d)) and "bark" in dir(Dog)
        assert vars(d) == {"name": "Rex", "age": 3}
        assert dict(inspect.getmembers(d))["kind"] == "canine"
        assert hasattr(Dog, "bark") and not hasattr(Dog, "meow") and hasattr(d, "name") and not hasattr(Dog, "name")
        assert d.bark.__name__ == "bark" and d.bark.__self__ is d and area.__code__.co_varnames[0] == "r"
        assert not hasattr(d, "__len__") and not hasattr(d, "__array__") and hasattr(area, "__call__")
        """,
        ("name, age=3", "name, older=3"),
    ),
    "library bases": (
        """
        class Squares(torch.utils.data.Dataset):
            def __init__(self, n): self.n = n
            def __len__(self): return self.n
            def __getitem__(self, i):
                if i >= self.n: raise IndexError(i)
                return torch.tensor(float(i)), torch.tensor(float(i * i))
        class Net(nn.Module):
            def __init__(self): super().__init__(); self.fc = nn.Linear(2, 1)
            def forward(self, x): return self.fc(x)
        """,
        """
        import torch, inspect
        from torch import nn
        d = Squares(4)
        assert isinstance(d, torch.utils.data.Dataset) and issubclass(Squares, torch.utils.data.Dataset) and len(d) == 4
        x, y = d[3]
        assert y == 9 and len(list(d)) == 4
        batches = list(torch.utils.data.DataLoader(d, batch_size=2))
        assert len(batches) == 2 and batches[1][1].tolist() == [4, 9]
        assert issubclass(Net, nn.Module) and not issubclass(Squares, nn.Module) and isinstance(Net(), nn.Module)
        net = Net()
        assert type(net) is Net and isinstance(net, Net) and type(net).__name__ == "Net"
        assert net.__class__.__name__ == "Net" and isinstance(net.fc, nn.Linear)
        assert list(inspect.signature(Net.forward).parameters) == ["self", "x"]
        assert [type(m).__name__ for m in net.children()] == ["Linear"] and type(net.fc) == nn.Linear
        assert type(net.fc) != nn.Conv2d and type(net.fc) in (nn.Conv2d, nn.Linear)
        assert {nn.Linear: 1}[type(net.fc)] == 1
        """,
        ("i * i", "i + i"),
    ),
}


def _names(source):
    names = {"__name__": "__main__"}
    exec("import torch\nfrom torch import nn\n" + source, names)
    return names


@pytest.mark.parametrize("case", CASES)
def test_a_test_passes_and_fails_as_in_one_process(student, case):
    """A right answer passes the test in one process and in two, and one with a small mistake fails it in both."""
    source, test, (right, wrong) = CASES[case]
    source, test = textwrap.dedent(source), textwrap.dedent(test)
    assert right in source
    wanted = [name for name in names_used(test) if name not in ("torch", "nn")]
    for answered, fails in ((source, False), (source.replace(right, wrong), True)):
        remote = student(answered)
        remote.client.our_classes = classes_defined(source)
        for names in (_names(answered), remote.client.fetch_names(wanted)):
            with pytest.raises(BaseException) if fails else contextlib.nullcontext():  # noqa: B017, PT011
                exec(compile(test, "<test>", "exec"), names)
