"""A test and student code share the generators of Python and numpy, as in one process."""

import random

import numpy as np
import pytest

from grader.engine.grading import grade
from grader.engine.runner.test_execution import drawing_names, draws
from tests.support.notebooks import answer, check, helpers, notebook

CODE = """
import random
import numpy as np
def draw(n):
    return np.random.rand(n), random.random(), np.random.randn(n)
def own_seed():
    np.random.seed(7)
    return np.random.rand(2)
def by(rng):
    return [rng.random() for _ in range(3)]
def shuffled(x):
    random.shuffle(x)
"""


def test_a_seed_of_the_test_reaches_student_code_and_its_draws_come_back(in_both):
    """In the same order of numbers as in one process, over several calls; student code may seed itself."""
    seen = []
    for names in in_both(CODE):
        if hasattr(names, "client"):
            names.client.draws = True
        np.random.seed(4), random.seed(5)
        x, draw = list(range(9)), names["draw"]
        results = [draw(2), np.random.rand(), random.random(), draw(3), np.random.randn(), random.random()]
        names["shuffled"](x)
        own = [names["own_seed"]().tolist() for _ in range(2)]
        assert own == [np.random.RandomState(7).rand(2).tolist()] * 2
        seen.append(repr((results, x)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng, np.random.RandomState])
def test_a_generator_of_the_test_advances(student, make):
    """A generator that is passed on draws the same numbers, and the test's own object goes on after them."""
    remote, ours, alone = student(CODE), make(3), make(3)
    assert remote["by"](ours) == [alone.random() for _ in range(3)]
    assert remote["by"](ours) == [alone.random() for _ in range(3)]
    assert ours.random() == alone.random()


@pytest.mark.parametrize(
    ("test", "cell", "right"),
    [
        ("np.random.seed(0)", "", True),
        ("import random", "", True),
        ("from numpy.random import seed", "", True),
        ("assert f(1) == 2, 'Draw them at random.'", "import random", False),
        ("seed(0)", "from random import seed", True),
        ("rnd.seed(0)", "import numpy.random as rnd", True),
        ("x = data()", "def data():\n    return np.random.rand(3)", True),
        ("x = other()", "def data():\n    return np.random.rand(3)\ndef other():\n    pass", False),
        ("x = torch.rand(3)", "import torch", False),
    ],
)
def test_only_a_test_that_may_draw_shares_its_generators(test, cell, right):
    """By the names in its code and in the functions of read-only cells that it uses, and not by the words in texts."""
    assert draws(test, drawing_names(cell)) is right


def test_no_score_depends_on_earlier_draws():
    """Each test begins with the same numbers in both processes, whatever was drawn before."""
    shares = (
        "np.random.seed(1)\na, b = f(), np.random.rand()\nnp.random.seed(1)\nassert [a[1], b] == [*np.random.rand(2)]"
    )
    source = notebook(
        helpers("imports", "import random\nimport numpy as np"),
        answer("f", "### BEGIN SOLUTION\ndef f():\n    return random.random(), np.random.rand()\n### END SOLUTION"),
        check("f-check-1", "assert f() == f() or f() != f()"),
        check("f-check-2", "np.random.rand(), f()\nassert False, f'{f()} {np.random.rand()}'"),
        check("f-check-3", shares),
        check("f-check-4", "assert False, f'{f()}'"),
    )
    first, second = (grade(source, source).results for _ in range(2))
    assert [result.points for result in first] == [1, 0, 1, 0]
    for place in (1, 3):
        assert first[place].message == second[place].message and "0." in first[place].message
