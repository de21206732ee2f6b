"""A hidden test sees the names of its place in the notebook, and no later cell costs an earlier exercise points."""

import pytest
from nbformat import NotebookNode

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.supervisor.session import Sandboxes
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

WHOLE = notebook(
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
ALONE = notebook(*WHOLE.cells[:6])
"""The notebook up to the last test of `one`: it has no other tests and no cells below that one."""


def verdicts(source: NotebookNode, submission: NotebookNode) -> dict[str, str]:
    """The verdict on each test."""
    report = grade(source, submission, Limits(cell_seconds=1))
    return {result.name: str(result.verdict) for result in report.results}


@pytest.mark.parametrize(
    "last",
    [
        "pass",
        "torch.set_default_dtype(torch.float64)\nimport builtins\nbuiltins.len = None",
        "import threading, time\nfor _ in range(100):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "one.__code__ = two.__code__ = (lambda: 7).__code__",
        "import os, threading\nthreading.Timer(0.2, os._exit, (0,)).start()\nimport time; time.sleep(0.1)",
    ],
    ids=["does nothing", "changes settings", "starts threads", "changes functions", "ends a little later"],
)
def test_a_later_cell_costs_no_earlier_exercise_points(last):
    """Each hidden test sees the names of its place, whatever a later cell does: an isolated re-run decides then."""
    spoilt = notebook(*WHOLE.cells, code(last))
    assert set(verdicts(WHOLE, spoilt).values()) == {"passed"}


def test_points_of_two_passes_are_never_added_up():
    """An answer that passes one hidden test before a later cell has run and the other after it passes only one."""
    source = notebook(
        answer("one", "def one():\n    return 1"),
        hidden("one-test-number", "one() is 1.", "assert one() == 1"),
        hidden("one-test-type", "one() is an integer.", "assert isinstance(one(), int)"),
    )
    two_faced = answered(source, one="import sys\ndef one():\n    return 1.0 if hasattr(sys, 'later') else 2")
    assert verdicts(source, notebook(*two_faced.cells, code("sys.later = True"))) == {
        "one-test-number": "failed",
        "one-test-type": "passed",
    }


@pytest.mark.slow
def test_an_exercise_without_time_for_a_rerun_keeps_its_results():
    """Its cell and its tests fit into one pass each, but not together: what passed stays passed."""
    source = notebook(
        answer("one", "import time\ntime.sleep(0.7)\ndef one():\n    time.sleep(0.5)\n    return 1"),
        hidden("one-test-number", "one() is 1.", "assert one() == 1"),
        hidden("one-test-type", "one() is text.", "assert isinstance(1, str)"),
        code("pass"),
    )
    report = grade(source, source, Limits(cell_seconds=1, notebook_seconds=3))
    assert [str(result.verdict) for result in report.results] == ["passed", "failed"]


@pytest.mark.parametrize(
    ("source", "body", "sandboxes"),
    [
        (WHOLE, "raise NotImplementedError", 0),
        (WHOLE, "return limit + 1", 1),
        (ALONE, "return limit + 1", 0),
        (notebook(*ALONE.cells, code("limit = 2")), "return limit + 1", 1),
        (
            notebook(*ALONE.cells, answer("two", "two = 2"), check("two-check", "assert two == 2")),
            "return limit + 1",
            1,
        ),
    ],
    ids=["blank", "wrong", "wrong and alone", "wrong above a cell", "wrong beside a test"],
)
def test_only_tests_that_another_cell_may_have_spoilt_run_again(monkeypatch, source, body, sandboxes):
    """A wrong answer gets a fresh sandbox if another cell may be to blame, and fails in its tests alone."""
    replaced, replace = [], Sandboxes.replace
    monkeypatch.setattr(Sandboxes, "replace", lambda self: (replaced.append(self), replace(self)))
    found = verdicts(source, answered(source, one=f"def one():\n    {body}"))
    assert len(replaced) == sandboxes
    assert [name for name, verdict in found.items() if verdict != "passed"] == [
        "one-check",
        "one-test-first",
        "one-test-second",
    ]
