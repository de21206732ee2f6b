"""Rounds: a hidden test meets the names of its place, and no later cell costs an earlier exercise anything."""

import pytest
from notebooks import answer, answered, check, code, helpers, hidden, notebook
from test_grade import verdicts

from course.grading.grade import _Candidates

ROUNDS = notebook(
    helpers("imports", "import torch"),
    answer("one", "def one():\n    return limit"),
    code("limit = 1"),
    check("one-check", "made = one()\nassert made == 1, 'one() is 1'"),
    hidden("one-test-first", "one() is 1.", "kept = one()\nassert kept == 1, 'not 1'"),
    hidden("one-test-second", "What the first test kept is still there.", "assert kept == made == 1, 'not kept'"),
    code("limit = 2"),
    answer("two", "def two():\n    return limit"),
    hidden("two-test-value", "two() is 2.", "assert two() == 2, 'not 2'"),
)
ALONE = notebook(*ROUNDS.cells[:6])
"""The notebook up to the last test of `one`: nothing else is tested, and nothing comes behind."""


def test_each_hidden_test_meets_the_names_of_its_place():
    """Though all cells have run before it: what a later cell binds anew, an earlier test does not see."""
    assert set(verdicts(ROUNDS, ROUNDS).values()) == {"passed"}


@pytest.mark.parametrize(
    "last",
    [
        "torch.set_default_dtype(torch.float64)\nimport builtins\nbuiltins.len = None",
        "import threading, time\nfor _ in range(100):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "one.__code__ = two.__code__ = (lambda: 7).__code__",
        "import os, threading\nthreading.Timer(0.2, os._exit, (0,)).start()\nimport time; time.sleep(0.1)",
    ],
    ids=["changes settings", "starts threads", "changes functions", "ends a little later"],
)
def test_a_later_cell_costs_no_earlier_exercise(last):
    """Whatever it does to the process: a hidden test that fails is decided where no later cell has run."""
    spoilt = notebook(*ROUNDS.cells, code(last))
    assert set(verdicts(ROUNDS, spoilt).values()) == {"passed"}


def test_a_wrong_answer_fails_in_all_its_tests():
    """Also in those that build on what an earlier test of the exercise kept, and in no other exercise."""
    found = verdicts(ROUNDS, answered(ROUNDS, one="def one():\n    return limit + 1"))
    assert [name for name, verdict in found.items() if verdict == "failed"] == [
        "one-check",
        "one-test-first",
        "one-test-second",
    ]


@pytest.mark.parametrize(
    ("source", "body", "candidates"),
    [
        (ROUNDS, "raise NotImplementedError", 0),
        (ROUNDS, "return limit + 1", 1),
        (ALONE, "return limit + 1", 0),
        (notebook(*ALONE.cells, code("limit = 2")), "return limit + 1", 1),
        (notebook(*ALONE.cells, check("other", "assert True")), "return limit + 1", 1),
    ],
    ids=["blank", "wrong", "wrong and alone", "wrong above a cell", "wrong beside a test"],
)
def test_what_nobody_else_is_to_blame_for_is_not_run_again(monkeypatch, source, body, candidates):
    """A wrong answer gets a fresh candidate, lest another cell is to blame; a blank one, or one alone, has none."""
    started, replace = [], _Candidates.replace
    monkeypatch.setattr(_Candidates, "replace", lambda self: (started.append(self), replace(self)))
    found = verdicts(source, answered(source, one=f"def one():\n    {body}"))
    assert len(started) == candidates
    assert [name for name, verdict in found.items() if verdict != "passed"] == [
        "one-check",
        "one-test-first",
        "one-test-second",
    ]
