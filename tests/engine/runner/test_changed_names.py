"""A test sees what answers make of names that cells of ours bind, and nothing else that student code does to them."""

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

GIVEN = "import random\nmenu = ['soup', 'bread']\nprices = {'soup': {'sum': 4}}\nrest = 3\n"
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
    ("random.seed(1)\nrandom.shuffle(menu)", "random.seed(1) or menu == random.sample(['soup', 'bread'], 2)"),
]


def points(source, submission=None) -> float:
    """The points of a submission, by default of the source itself."""
    return grade(source, submission or source, Limits(cell_seconds=5)).points


@pytest.mark.parametrize(("change", "holds"), CHANGES[:-1])
def test_a_test_sees_what_an_answer_changes(change, holds):
    source = notebook(
        helpers("given", GIVEN),
        answer("change", change),
        check("change-check", f"assert {holds}"),
        hidden("change-test", "It holds.", f"assert {holds}"),
    )
    assert points(source) == 2
    assert points(source, answered(source, change="raise NotImplementedError")) == 0
    assert points(source, answered(source, change="menu = prices = rest = None")) == 0


def test_each_test_sees_the_changes_above_it():
    source = notebook(
        helpers("given", GIVEN),
        answer("one", "menu.append('tea')"),
        check("one-check", "assert len(menu) == 3"),
        answer("two", "menu = tuple(menu)"),
        check("two-check", "assert isinstance(menu, tuple) and len(menu) == 3"),
        helpers("again", "menu = ['cake']"),
        check("three-check", "assert menu == ['cake']"),
    )
    assert points(source) == 3
    assert points(source, answered(source, two="pass")) == 2


def test_an_unmarked_cell_changes_names_too():
    source = notebook(
        helpers("given", "menu = ['soup', 'bread']"),
        code("menu = menu[:1]"),
        answer("count", "def count():\n    return len(menu)"),
        check("count-check", "assert count() == len(menu) == 1"),
    )
    assert points(source) == 1


def test_a_helper_and_a_cell_of_ours_see_the_changes():
    source = notebook(
        helpers("given", GIVEN + "def names():\n    return sorted(menu)\n"),
        answer("change", "menu.append('tea')"),
        helpers("more", "longest = max(map(len, menu)), len(menu)"),
        check("change-check", "assert names() == ['bread', 'soup', 'tea']"),
        check("change-check-2", "assert longest == (5, 3)"),
    )
    assert points(source) == 2
    assert points(source, answered(source, change="pass")) == 0


def test_what_no_answer_of_ours_changes_stays_ours():
    source = notebook(
        helpers("given", GIVEN + "def double(x):\n    return 2 * x\n"),
        answer("count", "def count():\n    print(menu)\n    return len(menu)\ncount()"),
        check("count-check", "assert count() == len(menu) and double(2) == 4"),
    )
    cheat = "menu = ['soup']\ndef count():\n    return len(menu)\ndef double(x):\n    return 4\n"
    assert points(source) == 1
    assert points(source, answered(source, count=cheat)) == 0


def test_a_helper_finds_the_names_that_the_test_does_not_mention():
    source = notebook(
        code("import math"),
        helpers("given", "def is_double(n):\n    return double(n) == 2 * n and LIMIT == 3\n"),
        answer("double", "LIMIT = 3\ndef double(x):\n    return 2 * x\ndef triple(x):\n    return 3 * x"),
        check("double-check", "assert is_double(4)"),
        check(
            "double-check-2",
            "CASES = [2]\ndef check_all():\n    for each in CASES:\n        check_one(each)\n"
            "def check_one(n):\n    assert math.isclose(triple(n), n * LIMIT)\ncheck_all()",
        ),
        hidden("double-test", "It holds.", "same = lambda n: is_double(n)\nassert same(2)\ncheck_all()"),
    )
    assert points(source) == 3
    assert points(source, answered(source, double="LIMIT = 3\ndef double(x):\n    return 2 * x\n")) == 1
    assert (
        points(
            source,
            answered(source, double="LIMIT = 4\ndef double(x):\n    return 2 * x\ndef triple(x):\n    return 4 * x"),
        )
        == 1
    )
    assert points(source, answered(source, double="raise NotImplementedError")) == 0


def test_a_test_that_shares_a_session_with_one_that_draws_receives_the_generators():
    source = notebook(
        answer("draw", "import numpy as np\ndef draw():\n    return np.random.rand()"),
        check(
            "draw-check",
            "import numpy as np\ndef seeded():\n    np.random.seed(3)\n    return draw()\nassert seeded() >= 0",
        ),
        check("draw-check-2", "assert 0 <= draw() < 1 and seeded() == seeded()"),
    )
    assert points(source) == 2
    assert points(source, answered(source, draw="def draw():\n    return 2")) == 1


def test_a_cell_of_ours_that_needs_student_code_leaves_nothing_half_made():
    source = notebook(
        helpers("given", "totals = {}\nxs = [0]"),
        answer("double", "def double(x):\n    return 2 * x"),
        helpers("use", "LIMIT = 7\nxs = [1, 2]\nxs += [double(x) for x in xs]\ntotals['all'] = sum(xs)"),
        check("double-check", "assert xs == [1, 2, 2, 4]"),
        hidden("double-test", "It holds.", "assert totals == {'all': 9} and xs[-1] == 4 and LIMIT == 7"),
    )
    assert points(source) == 2
    assert points(source, answered(source, double="def double(x):\n    return x")) == 0
    assert points(source, answered(source, double="raise NotImplementedError")) == 0
