"""Functions in read-only cells and in earlier tests use the student's names, as in one kernel."""

import pytest

from grader.engine.grading import grade
from tests.support.notebooks import answer, check, helpers, notebook

SQUARES = "LIMIT = 9\n\ndef squares(n):\n    return [k**2 for k in range(n)]"
WRONG = "LIMIT = 9\n\ndef squares(n):\n    return [k for k in range(n)]"
HELPER = """
import numpy as np
from functools import partial

def close(n, expected, tol):
    assert np.allclose(run(n), expected, atol=tol)

def run(n):
    return squares(min(n, LIMIT))

closely = partial(close, tol=1e-9)
"""
EARLIER = """
def test_squares():
    assert squares(3) == [0, 1, 4]

test_squares()
"""


def points(right, answered, *cells):
    """Return what the tests of a notebook give to an answer."""
    return grade(notebook(answer("squares", right), *cells), notebook(answer("squares", answered), *cells)).points


@pytest.mark.parametrize("call", ["close(3, [0, 1, 4], 0)", "closely(3, [0, 1, 4])", "[closely(3, [0, 1, 4])]"])
def test_a_helper_calls_student_code(call):
    """With a function and a constant of the student's that the test does not mention."""
    cells = helpers("helper", HELPER), check("squares-check", call)
    assert [points(SQUARES, each, *cells) for each in (SQUARES, WRONG, SQUARES.replace("9", "2"))] == [1, 0, 0]


def test_the_names_of_the_test_come_first():
    """A helper sees what the test itself binds, here its own list of squares."""
    cells = helpers("helper", HELPER), check("squares-check", "squares = lambda n: [5]\nclose(1, [5], 0)")
    assert points(SQUARES, WRONG, *cells) == 1


def test_a_test_of_all_parts_calls_the_tests_of_the_parts():
    cells = check("squares-check", EARLIER), check("all-check", "def test_all():\n    test_squares()\n\ntest_all()")
    assert (points(SQUARES, SQUARES, *cells), points(SQUARES, WRONG, *cells)) == (2, 0)


@pytest.mark.parametrize("name", ["max", "sum"])
def test_an_answer_with_a_name_of_pythons_is_the_students(name):
    """The source defines it, so the test means it: Python's own would pass for any answer."""
    right, wrong = f"def {name}(a, b):\n    return a if a > b else b", f"def {name}(a, b):\n    return a"
    test = check("max-check", f"assert {name}(1, 2) == 2 and {name}(2, 1) == 2")
    assert (points(right, right, test), points(right, wrong, test)) == (1, 0)


def test_a_name_of_pythons_that_only_a_student_defines_judges_nothing():
    test = check("squares-check", "assert sum(squares(3)) == 5")
    assert points(SQUARES, f"{WRONG}\n\ndef sum(numbers):\n    return 5", test) == 0


def test_a_test_that_draws_nothing_may_follow_one_that_draws():
    """Both share a session; the answer draws in each, and the second calls a function of the first that draws."""
    drawing = "import numpy as np\n\ndef squares(n):\n    return list(np.random.rand(n) ** 2)"
    first = "import numpy as np\n\nnp.random.seed(1)\nkept = squares(2)\nassert kept[0] == 0.417022004702574**2"
    first += "\n\ndef seeded():\n    np.random.seed(3)\n    return squares(1)"
    cells = (
        check("squares-check", first),
        check("length-check", "assert len(squares(3)) == 3 and seeded() == seeded() != kept"),
    )
    assert points(drawing, drawing, *cells) == 2
