"""A test may rebind, delete and list the student's names as in one process, and leaves everything as it was."""

import pytest
from nbformat import NotebookNode

from grader.engine.grading import grade
from grader.engine.limits import Limits
from tests.support.notebooks import answer, answered, check, code, hidden, notebook

SQUARES = "def squares(n):\n    if n < 1:\n        raise ValueError('n')\n    return [i**2 for i in range(1, n + 1)]"
SUM = "def sum_of_squares(n):\n    return sum(squares(n))"
OWN_SUM = "def sum_of_squares(n):\n    return sum(i**2 for i in range(1, n + 1))"
USES_IT = """
orig_squares = squares
del squares
try:
    sum_of_squares(1)
except NameError:
    pass
else:
    raise AssertionError("sum_of_squares does not use squares")
finally:
    squares = orig_squares
"""
BLANK = "raise NotImplementedError"
LIST = "X = 3\n\ndef f():\n    return X"


def points(source: NotebookNode, submission: NotebookNode | None = None) -> list[float]:
    """The points of each test."""
    return [result.points for result in grade(source, submission or source, Limits(cell_seconds=5)).results]


def ps1(uses_it: NotebookNode) -> NotebookNode:
    """The example of nbgrader's own documentation, in our words."""
    return notebook(
        code("import math"),
        answer("squares", SQUARES),
        check("correct_squares", "assert squares(1) == [1] and squares(3) == [1, 4, 9]"),
        check("squares_invalid_input", "try:\n    squares(0)\nexcept ValueError:\n    pass\nelse:\n    assert False"),
        answer("sum_of_squares", SUM),
        check("correct_sum_of_squares", "assert sum_of_squares(1) == 1 and sum_of_squares(10) == 385", points=0.5),
        uses_it,
        check("after", "assert squares(2) == [1, 4] and sum_of_squares(2) == 5"),
    )


@pytest.mark.parametrize("is_hidden", [False, True])
def test_the_example_of_nbgrader(is_hidden):
    """A test that deletes a function shows whether another one uses it; it is there again for the next test."""
    test = hidden("uses", "It uses squares.", USES_IT, 0.5) if is_hidden else check("uses", USES_IT, 0.5)
    source = ps1(test)
    assert points(source) == [1, 1, 0.5, 0.5, 1]
    assert points(source, answered(source, sum_of_squares=OWN_SUM)) == [1, 1, 0.5, 0, 1]
    assert points(source, answered(source, squares=BLANK, sum_of_squares=BLANK)) == [0, 0, 0, 0, 0]


REBINDS = [
    ("squares = lambda n: [7]\nassert sum_of_squares(3) == 7", True),
    ("def squares(n):\n    return [n]\nassert sum_of_squares(3) == 3\nassert sum_of_squares(4) == 4", True),
    ("calls = []\nreal = squares\ndef squares(n):\n    calls.append(n)\n    return real(n)\n"
     "assert sum_of_squares(3) == 14 and calls == [3]", True),
    ("from unittest.mock import Mock\nsquares = Mock(return_value=[5])\nassert sum_of_squares(3) == 5\n"
     "squares.assert_called_once_with(3)", True),
    ("def replaced():\n    global squares\n    squares = lambda n: [8]\n"
     "replaced()\nassert sum_of_squares(3) == 8", True),
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
        hidden("later", "It is the sum.", "assert sum_of_squares(3) == 14"),
    )
    assert points(source) == [1, 1, 1]
    if needs_squares:
        assert points(source, answered(source, sum_of_squares=OWN_SUM)) == [0, 1, 1]
        blank = "def sum_of_squares(n):\n    raise NotImplementedError"
        assert points(source, answered(source, sum_of_squares=blank)) == [0, 0, 0]


def test_input_can_be_replaced():
    """A name of Python that the answers use is a name like any other."""
    source = notebook(
        answer("ask", "def ask():\n    return int(input('a number: ')) + 1"),
        check("ask-check", "input = lambda text='': '4'\nassert ask() == 5"),
        check("ask-again", "def input(text):\n    return str(len(text))\nassert ask() == 11"),
        check("nobody", "try:\n    ask()\nexcept EOFError:\n    pass\nelse:\n    assert False"),
    )
    assert points(source)[:2] == [1, 1]
    assert points(source, answered(source, ask="def ask():\n    return 6")) == [0, 0, 0]


def test_a_value_that_cannot_cross_stays_with_the_test():
    """Then the student's code keeps its own."""
    source = notebook(
        answer("f", LIST),
        check("f-check", "X = object()\nassert f() == 3"),
        check("f-value", "X = [1, {'a': 2.5}]\nassert f() == X"),
        check("f-loop", "for X in range(3):\n    assert f() == X"),
        check("f-after", "assert f() == 3"),
    )
    assert points(source) == [1, 1, 1, 1]
    assert points(source, answered(source, f="X = 3\n\ndef f():\n    return 3")) == [1, 0, 0, 1]


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


def test_a_student_who_lists_names_sees_no_name_of_the_test():
    """Only what the test puts in the place of a name that answers use reaches the sandbox."""
    source = notebook(
        answer("f", "X = 3\n\ndef f():\n    return sorted(set(globals()) & {'X', 'secret', 'orig'})"),
        check("f-check", "secret = 7\norig = X\nX = 8\nassert f() == ['X']"),
    )
    assert points(source) == [1]
