"""A test sees the names of the notebook as in one process: of students, of cells of ours and of other tests."""

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

GIVEN = "menu = ['soup', 'bread']\nprices = {'soup': {'sum': 4}}\nrest = 3\n"
CHANGES = [
    ("menu.append('tea')", "menu[-1] == 'tea'"),
    ("del menu[0]", "'soup' not in menu"),
    ("menu = sorted(menu)", "menu == ['bread', 'soup']"),
    ("rest += 1", "rest == 4"),
    ("last = menu.pop()", "menu == ['soup'] and last == 'bread'"),
    ("prices['tea'] = {'sum': 2}", "prices['tea']['sum'] == 2"),
    ("prices['soup']['sum'] = 5", "prices['soup']['sum'] == 5"),
    ("prices.setdefault('tea', []).append(1)", "prices['tea'] == [1]"),
    ("if rest == 3:\n    for dish in ('tea', 'cake'):\n        menu.append(dish)", "menu[2:] == ['tea', 'cake']"),
]
SQUARES = "LIMIT = 9\n\ndef squares(n):\n    return [k**2 for k in range(n)]"
WRONG = "LIMIT = 9\n\ndef squares(n):\n    return [k for k in range(n)]"
ROOT = "def root(x):\n    return x**0.5"
HELPER = """
import numpy as np
from functools import partial

def close(n, expected, tol):
    assert np.allclose(run(n), expected, atol=tol)

def run(n):
    return squares(min(n, LIMIT))

closely = partial(close, tol=1e-9)
"""
DRAWN = """
import numpy as np
np.random.seed(1)
kept = squares(2)
assert kept[0] == 0.417022004702574**2

def seeded():
    np.random.seed(3)
    return squares(1)
"""
CASES = (
    {
        f"an answer that changes a value: {change}": (
            [
                helpers("given", GIVEN),
                answer("change", change),
                check("change-check", f"assert {holds}"),
                hidden("change-test", "It holds.", f"assert {holds}"),
            ],
            2,
            [({"change": "raise NotImplementedError"}, 0), ({"change": "menu = prices = rest = None"}, 0)],
        )
        for change, holds in CHANGES
    }
    | {
        f"a helper that calls student code: {call}": (
            [helpers("helper", HELPER), answer("squares", SQUARES), check("squares-check", call)],
            1,
            [({"squares": WRONG}, 0), ({"squares": SQUARES.replace("9", "2")}, 0)],
        )
        for call in ("close(3, [0, 1, 4], 0)", "closely(3, [0, 1, 4])", "[closely(3, [0, 1, 4])]")
    }
    | {
        f"an answer with Python's name {name}": (
            [
                answer("max", f"def {name}(a, b):\n    return a if a > b else b"),
                check("max-check", f"assert {name}(1, 2) == 2 and {name}(2, 1) == 2"),
            ],
            1,
            [({"max": f"def {name}(a, b):\n    return a"}, 0)],
        )
        for name in ("max", "sum")
    }
    | {
        "changes above each test": (
            [
                helpers("given", GIVEN),
                answer("one", "menu.append('tea')"),
                check("one-check", "assert len(menu) == 3"),
                code("menu = menu[:3]"),
                answer("two", "menu = tuple(menu)"),
                check("two-check", "assert isinstance(menu, tuple) and len(menu) == 3"),
                helpers("again", "menu = ['cake']"),
                check("three-check", "assert menu == ['cake']"),
            ],
            3,
            [({"two": "pass"}, 2)],
        ),
        "changes that a helper and a cell of ours see": (
            [
                helpers("given", GIVEN + "def names():\n    return sorted(menu)\n"),
                answer("change", "menu.append('tea')"),
                helpers("more", "longest = max(map(len, menu)), len(menu)"),
                check("change-check", "assert names() == ['bread', 'soup', 'tea']"),
                check("change-check-2", "assert longest == (5, 3)"),
            ],
            2,
            [({"change": "pass"}, 0)],
        ),
        "what no answer of ours changes": (
            [
                helpers("given", GIVEN + "def double(x):\n    return 2 * x\n"),
                answer("count", "def count():\n    print(menu)\n    return len(menu)\ncount()"),
                check("count-check", "assert count() == len(menu) and double(2) == 4"),
            ],
            1,
            [({"count": "menu = ['soup']\ndef count():\n    return len(menu)\ndef double(x):\n    return 4\n"}, 0)],
        ),
        "a cell of ours that needs student code": (
            [
                helpers("given", "totals = {}\nxs = [0]"),
                answer("double", "def double(x):\n    return 2 * x"),
                helpers("use", "LIMIT = 7\nxs = [1, 2]\nxs += [double(x) for x in xs]\ntotals['all'] = sum(xs)"),
                check("double-check", "assert xs == [1, 2, 2, 4]"),
                hidden("double-test", "It holds.", "assert totals == {'all': 9} and xs[-1] == 4 and LIMIT == 7"),
            ],
            2,
            [({"double": "def double(x):\n    return x"}, 0), ({"double": "raise NotImplementedError"}, 0)],
        ),
        "a helper that sees what the test binds": (
            [
                helpers("helper", HELPER),
                answer("squares", WRONG),
                check("squares-check", "squares = lambda n: [5]\nclose(1, [5], 0)"),
            ],
            1,
            [],
        ),
        "a test that calls tests": (
            [
                answer("squares", SQUARES),
                check("squares-check", "def test_squares():\n    assert squares(3) == [0, 1, 4]\n\ntest_squares()"),
                check("all-check", "def test_all():\n    test_squares()\n\ntest_all()"),
            ],
            2,
            [({"squares": WRONG}, 0)],
        ),
        "a name of Python's that only a student defines": (
            [answer("squares", SQUARES), check("squares-check", "assert sum(squares(3)) == 5")],
            1,
            [({"squares": f"{WRONG}\n\ndef sum(numbers):\n    return 5"}, 0)],
        ),
        "a test that draws nothing below one that draws": (
            [
                answer("squares", "import numpy as np\n\ndef squares(n):\n    return list(np.random.rand(n) ** 2)"),
                check("squares-check", DRAWN),
                check("length-check", "assert len(squares(3)) == 3 and seeded() == seeded() != kept"),
            ],
            2,
            [],
        ),
        "an answer that has the name of an import": (
            [
                code("from math import sqrt, floor"),
                answer("sqrt", "def sqrt(x):\n    return x**0.5"),
                check("sqrt-check", "assert sqrt(4) == 2 and floor(sqrt(5)) == 2"),
            ],
            1,
            [({"sqrt": "def sqrt(x):\n    return 3"}, 0)],
        ),
        "the last import above a test": (
            [
                code("from math import sqrt"),
                answer("one", "def one(x):\n    return x"),
                check("one-check", "assert type(sqrt(one(4))) is float"),
                code("from cmath import sqrt"),
                answer("two", "def two(x):\n    return x"),
                check("two-check", "assert type(sqrt(two(4))) is complex"),
            ],
            2,
            [],
        ),
        "a read-only cell that uses imports above and below it": (
            [
                code("import math"),
                helpers("close", "def close(a, b):\n    return math.isclose(a, b) and cmath.sqrt(4) == 2"),
                answer("root", f"import cmath\n\n{ROOT}"),
                check("root-check", "assert close(root(4), 2)"),
                hidden("root-test-nine", "root(9) is 3.", "assert close(root(9), 3)"),
            ],
            2,
            [({"root": "def root(x):\n    return 2.0"}, 1)],
        ),
        "values that a test puts in the place of the student's, and one that cannot cross": (
            [
                answer("f", "X = 3\n\ndef f():\n    return X"),
                check("f-check", "X = object()\nassert f() == 3"),
                check("f-value", "X = [1, {'a': 2.5}]\nassert f() == X"),
                check("f-loop", "for X in range(3):\n    assert f() == X"),
                check("f-after", "assert f() == 3"),
            ],
            4,
            [({"f": "X = 3\n\ndef f():\n    return 3"}, 2)],
        ),
        "a student who lists the names of a test": (
            [
                answer("f", "X = 3\n\ndef f():\n    return sorted(set(globals()) & {'X', 'secret', 'orig'})"),
                check("f-check", "secret = 7\norig = X\nX = 8\nassert f() == ['X']"),
            ],
            1,
            [],
        ),
    }
)
"""Cells of a notebook, their points, and other answers with the points of these."""


@pytest.mark.parametrize(("cells", "points", "others"), CASES.values(), ids=CASES)
def test_names_are_seen_as_in_one_process(cells, points, others):
    """A test sees what answers make of names that cells of ours bind, and nothing else that students do to them."""
    source = notebook(*cells)
    for answers, expected in (({}, points), *others):
        assert grade(source, answered(source, **answers), Limits(cell_seconds=5)).points == expected, answers
