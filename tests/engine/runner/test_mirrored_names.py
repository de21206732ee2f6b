"""A test may rebind, delete and list the student's names as in one process, and leaves everything as it was."""

import pytest
from nbformat import NotebookNode

from grader.engine.grading import grade
from grader.engine.limits import Limits
from tests.support.notebooks import answer, answered, check, hidden, notebook

pytestmark = pytest.mark.slow

SQUARES = "def squares(n):\n    if n < 1:\n        raise ValueError('n')\n    return [i**2 for i in range(1, n + 1)]"
SUM = "def sum_of_squares(n):\n    return sum(squares(n))"
OWN_SUM = "def sum_of_squares(n):\n    return sum(i**2 for i in range(1, n + 1))"
LIST = "X = 3\n\ndef f():\n    return X"


def points(source: NotebookNode, submission: NotebookNode | None = None) -> list[float]:
    """The points of each test."""
    return [result.points for result in grade(source, submission or source, Limits(cell_seconds=5)).results]


REBINDS = [
    ("squares = lambda n: [7]\nassert sum_of_squares(3) == 7", True),
    ("def squares(n):\n    return [n]\nassert sum_of_squares(3) == 3\nassert sum_of_squares(4) == 4", True),
    ("calls = []\nreal = squares\ndef squares(n):\n    calls.append(n)\n    return real(n)\n"
     "assert sum_of_squares(3) == 14 and calls == [3]", True),
    ("from unittest.mock import Mock\nsquares = Mock(return_value=[5])\nassert sum_of_squares(3) == 5\n"
     "squares.assert_called_once_with(3)", True),
    ("def replaced():\n    global squares\n    squares = lambda n: [8]\n"
     "replaced()\nassert sum_of_squares(3) == 8", True),
    ("kept = squares\ndel squares\ntry:\n    sum_of_squares(1)\nexcept NameError:\n    pass\nelse:\n    assert False\n"
     "finally:\n    squares = kept", True),
    ("globals()['squares'] = lambda n: [9]\nassert sum_of_squares(3) == 9", True),
    ("keep = globals().pop('squares')\ntry:\n    sum_of_squares(3)\nexcept NameError:\n    pass\n"
     "else:\n    assert False", True),
    ("del squares\nsquares = lambda n: [1, 1]\nassert sum_of_squares(3) == 2", True),
    ("sum = lambda x: 'all'\nassert sum_of_squares(3) == 'all'", False),
    ("squares = 5\nassert sum_of_squares is not None", None),
]  # fmt: skip


@pytest.mark.parametrize(("test", "needs_squares"), REBINDS)
def test_a_function_of_the_test_takes_the_place_of_the_students(test, needs_squares):
    """Student code calls it, whichever way the test put it there, and the next test finds the student's own again."""
    source = notebook(
        answer("squares", SQUARES),
        answer("sum_of_squares", SUM),
        check("replaces", test),
        check("after", "assert squares(2) == [1, 4] and sum_of_squares(2) == 5"),
        hidden("replaces-test", "It uses squares.", test),
        hidden("later", "It is the sum.", "assert sum_of_squares(3) == 14"),
    )
    assert points(source) == [1, 1, 1, 1]
    if needs_squares:
        assert points(source, answered(source, sum_of_squares=OWN_SUM)) == [0, 1, 0, 1]
        blank = "def sum_of_squares(n):\n    raise NotImplementedError"
        assert points(source, answered(source, sum_of_squares=blank)) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "test",
    [
        "from unittest.mock import patch\nwith patch('builtins.input', side_effect=['1', '2']) as asked:\n"
        "    assert total() == 3\nassert asked.call_count == 2",
        "from unittest import mock\nwith mock.patch('__main__.ask', lambda: 5):\n    assert total() == 10",
        "from unittest.mock import patch\nwith patch.dict(globals(), ask=lambda: 4):\n    assert total() == 8",
        "import builtins\nreal, builtins.input = builtins.input, lambda text: '3'\ntry:\n    assert total() == 6\n"
        "finally:\n    builtins.input = real",
        "import __main__\nask_again = __main__.ask\n__main__.ask = lambda: 1\nassert total() == 2\n"
        "assert hasattr(__main__, 'total') and not hasattr(__main__, 'other')\n__main__.ask = ask_again",
    ],
)
def test_a_mock_takes_the_place_of_a_name(test):
    """Of Python's and of the student's, for the time of a `with` block or of the test."""
    still = "\ntry:\n    total()\nexcept EOFError:\n    pass\nelse:\n    raise AssertionError('it did not ask')"
    source = notebook(
        answer("ask", "import math\n\ndef ask():\n    return math.floor(float(input('a number: ')))"),
        answer("total", "def total():\n    return ask() + ask()"),
        check("total-check", test + still),
        hidden("total-test-more", "It asks.", test),
        check("total-after", still),
    )
    assert points(source) == [1, 1, 1]
    assert points(source, answered(source, total="def total():\n    return 7")) == [0, 0, 0]


LOOKS = [
    "assert 'X' in locals() and 'Y' not in locals()",
    "assert 'X' in globals() and 'f' in globals() and 'Y' not in globals()",
    "assert 'X' in dir() and 'Y' not in dir()",
    "assert 'X' in vars() and vars()['X'] == 3",
    "assert globals()['X'] == 3 and globals()['f']() == 3",
    "assert locals().get('X') == 3 and globals().get('Y', 1) == 1",
    "for name in ['X', 'f']:\n    assert name in globals(), name",
    "assert all(f'{letter}' in globals() for letter in 'Xf')",
    "def has(name):\n    here = locals()\n    return name in globals() and list(here) == ['name']\nassert has('X')",
    "assert [name for name in dir() if name == 'X'] == ['X'] and 'append' in dir([])",
    "try:\n    X\nexcept NameError:\n    assert False, 'X is missing'",
    "assert eval('X + f()') == 6",
    "exec('assert X == 3')",
    "assert callable(globals()['f']) and len(globals()) > 1 and {**globals()}['X'] == 3",
    "assert 'm' in globals() and globals()['m'].floor(2.5) == 2",
]


@pytest.mark.parametrize("test", LOOKS)
def test_a_test_finds_the_names_of_the_student(test):
    """By every function of Python for it; a name that no cell of the student's binds is not there."""
    source = notebook(
        answer("f", f"import math as m\n\n{LIST}"),
        check("f-check", test),
        check("f-after", "assert globals is __builtins__['globals'] if isinstance(__builtins__, dict) else True"),
        hidden("f-hidden", "X is there.", test),
    )
    assert points(source) == [1, 1, 1]
    assert points(source, answered(source, f="Y = 1\n\ndef g():\n    return Y")) == [0, 1, 0]
