"""A test sees what answers make of names that cells of ours bind, and nothing else that student code does to them."""

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


def points(source, submission=None) -> float:
    """The points of a submission, by default of the source itself."""
    return grade(source, submission or source, Limits(cell_seconds=5)).points


@pytest.mark.parametrize(("change", "holds"), CHANGES)
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
        code("menu = menu[:3]"),
        answer("two", "menu = tuple(menu)"),
        check("two-check", "assert isinstance(menu, tuple) and len(menu) == 3"),
        helpers("again", "menu = ['cake']"),
        check("three-check", "assert menu == ['cake']"),
    )
    assert points(source) == 3
    assert points(source, answered(source, two="pass")) == 2


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
