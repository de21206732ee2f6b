"""A fault that arises in the code of a test is the teacher's: no sentence about it speaks of the student's code."""

import pytest

from grader.engine.explanation import UNGRADABLE, Ending, EndingKind
from grader.engine.grading import grade
from grader.engine.report import Result
from grader.engine.view import NOT_WRITTEN, PARTLY, RIGHT, WRONG, first_to_do, views
from grader.engine.view import UNGRADABLE as STATE
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

ONE = "def one(x=1):\n    return x"
BLANK = "def one(x=1):\n    raise NotImplementedError"


def source(test: str, visible: str = "assert one() == 1, 'one() is 1'", *cells):
    """An exercise with a visible and a hidden test."""
    return notebook(
        helpers("imports", "import torch\n\ndef ours(f):\n    return f(undefined_in_ours)"),
        *cells,
        answer("one", ONE),
        check("one-check", visible),
        hidden("one-test-more", "one(x) is x.", test, points=2),
    )


def last(notebook, submission=None, **options) -> Result:
    """The result of the hidden test."""
    return grade(notebook, submission or notebook, **options).results[-1]


@pytest.mark.parametrize(
    ("line", "kind", "reason"),
    [
        ("assert torhc.ones(2).sum() == 2", EndingKind.NAME, "NameError: name 'torhc' is not defined"),
        (
            "assert [nowhere for _ in range(2)]",
            EndingKind.NAME,
            "NameError: name 'nowhere' is not defined",
        ),
        ("ours(one)", EndingKind.NAME, "NameError: name 'undefined_in_ours' is not defined"),
        ("one(object())", EndingKind.BOUNDARY, "TypeError: a test may pass"),
        ("one([{1: object()}])", EndingKind.BOUNDARY, "TypeError: a test may pass"),
        ("one(x=10**6000)", EndingKind.BOUNDARY, "TypeError: an integer may have"),
        ("one(torch.ones(2).to_sparse())", EndingKind.BOUNDARY, "TypeError: only dense CPU tensors cross"),
        ("one(eval('[' * 40 + ']' * 40))", EndingKind.BOUNDARY, "TypeError: a value may be"),
        ("raise SyntaxError('line 3: invalid syntax')", EndingKind.SYNTAX, "SyntaxError: line 3: invalid syntax"),
    ],
)
def test_a_fault_of_the_test_is_not_the_students(line, kind, reason):
    """The student reads that the test cannot be graded; the teacher gets the line and the exception."""
    sheet = source(line, f"# Look.\n\n{line}")
    for result in grade(sheet, sheet).results:
        assert (result.verdict, result.message, result.points) == ("ungradable", UNGRADABLE, 0)
        assert result.ending is not None and (result.ending.kind, result.ending.line) == (kind, 3)
        assert result.ending.reason.startswith(reason)
        assert result.ending.text == line
        assert reason.split(":")[1] not in str(result.published()), "the reason may show a hidden test"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("def two(): return 1", "assert one(3) == 3"),  # gives the function another name
        (ONE, "assert 'k' == one(k)"),  # another cell of ours binds it, and the student removed the line
        ("def one(x=1):\n    return missing", "one(3)"),  # raised by the student's code
        ("def one(x=1):\n    return 'a b c'", "import ast; ast.parse(one(3))"),  # the student's text
        ("def one(x=1):\n    return 'a b c'", "compile(one(3), 'answer', 'exec')"),
        ("def one(x=1):\n    return None", "one(3) + 1"),
    ],
)
def test_a_fault_of_the_students_stays_the_students(body, line):
    """Wrong answers keep their verdict and their sentence."""
    sheet = source(line, "one", code("k = 'k'"))
    blank = answered(sheet, one=body)
    blank.cells[1].source = "pass"
    result = last(sheet, blank)
    assert result.verdict != "ungradable" and UNGRADABLE not in result.message
    assert result.ending is not None and result.ending.line == 3


@pytest.mark.parametrize("binds", ["from torch import *", "exec('torhc = torch')", "%run setup.py", "global torhc"])
def test_a_name_that_a_cell_of_ours_may_bind_unseen_counts_as_the_students(binds):
    """Where the names of the source cannot be known, an undefined one stays what it was."""
    sheet = source("torhc.ones(1)", "one()", code(f"if 0:\n    pass\n{binds}"))
    assert last(sheet).verdict == "error"
    assert last(source("torhc.ones(1)", "one()", code("%matplotlib inline\n%load_ext x"))).verdict == "ungradable"


WHY = Ending(EndingKind.PROPERTY, "AssertionError", 3, "assert one(3) == 4")


@pytest.mark.parametrize(
    ("body", "points", "verdict"),
    [
        ("return x + 1", 2, "passed"),
        ("return x", 0, "ungradable"),
        ("raise KeyError", 0, "ungradable"),
        ("import os; os._exit(0)", 0, "ungradable"),
        ("raise NotImplementedError", 0, "error"),
    ],
)
def test_who_passes_a_test_that_our_solution_fails_keeps_the_points(body, points, verdict):
    """Everyone else reads that it cannot be graded, and a blank stays a blank."""
    sheet = source("assert one(3) == 4")
    submission = answered(sheet, one=f"def one(x=1):\n    if x == 1: return 1\n    {body}")
    result = last(sheet, submission, unsound={"one-test-more": WHY})
    assert (result.points, result.verdict) == (points, verdict)
    assert (result.message == UNGRADABLE) == (verdict == "ungradable")
    assert (result.ending == WHY) == (verdict == "ungradable")


def test_a_later_exercise_is_not_judged_anew_because_of_a_broken_test():
    """Points that a test lost by its own fault are no mistake that an answer carries forward."""
    sheet = notebook(
        answer("one", ONE),
        check("one-check", "assert one() == 1"),
        hidden("one-test-more", "one", "torhc"),
        answer("two", "def two():\n    return one() + 1"),
        check("two-check", "assert two() == 2"),
    )
    wrong = answered(sheet, two="def two():\n    return one() + 5")
    assert [each.explanation.judged_with for each in grade(sheet, wrong).results] == [(), (), ()]


@pytest.mark.slow
def test_an_exercise_whose_tests_are_at_fault_is_not_called_wrong():
    """It has a state of its own, and is not what to do next; a mistake beside it counts as usual."""
    sheet = source("torhc.ones(1)")
    for one, state in ((ONE, STATE), (ONE.replace("x=1", "x=2"), WRONG), (BLANK, NOT_WRITTEN)):
        report = grade(sheet, answered(sheet, one=one))
        shown = views(report.results)
        assert shown[0].state == state
        assert (first_to_do(shown) is None) == (state == STATE)
        assert UNGRADABLE in str(shown[0].reasons)
    assert {STATE.word, STATE.sign}.isdisjoint(
        {word for each in (RIGHT, WRONG, PARTLY) for word in (each.word, each.sign)}
    )
