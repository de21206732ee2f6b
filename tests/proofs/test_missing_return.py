"""A student who forgets a `return` reads so, in words, in the visible check of the exercise.

Python's own error, that a NoneType has no shape, would come out of a test cell, which the student has not written.
"""

import ast

import pytest

from grader.engine.grading import grade
from grader.engine.notebook.cells import grade_id
from grader.engine.report import Report, Result, Verdict
from tests.support.exercises import SOURCES, reference
from tests.support.judge import Judge
from tests.support.notebooks import answer, check, helpers, notebook, with_answer
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

WITHOUT_RETURN = """
ANSWER

def without_return(function):
    def nothing(*arguments, **named):
        function(*arguments, **named)
    return nothing

if isinstance(PART, type):
    PART.forward = without_return(PART.forward)
else:
    PART = without_return(PART)
"""
CHECKED = [
    exercise
    for exercise, source in SOURCES.items()
    if any(grade_id(cell) == f"{exercise}-check" for cell in source.cells)
]


def forgotten(right: str, part: str) -> str:
    """The answer `right` in which the function `part`, or the forward of a class, does its work and returns nothing."""
    return WITHOUT_RETURN.replace("PART", part).replace("ANSWER", right)


def parts(right: str) -> list[str]:
    """The functions and the classes with a forward that a student writes in an answer; not what was given."""
    written = [node for node in ast.parse(right).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    own = [node for node in written if not (ast.get_docstring(node) or "").startswith("Given")]
    return [node.name for node in own if isinstance(node, ast.FunctionDef) or "def forward(" in ast.unparse(node)]


def checked(report: Report, exercise: str) -> Result:
    """What the visible check of `exercise` came to."""
    return next(result for result in report.results if result.name == f"{exercise}-check")


@grouped(
    "case",
    [(exercise, part) for exercise in CHECKED for part in parts(reference(exercise))],
    group=lambda case: case[0],
    name="-".join,
)
def test_a_missing_return_is_called_so(judge: Judge, case: tuple[str, str]) -> None:
    """By an assertion of the check, not by an error of Python's, and not by a sentence about something else."""
    exercise, part = case
    right = reference(exercise)
    reports = judge.in_turn(exercise, [forgotten(right, each) for each in parts(right)])
    result = checked(reports[parts(right).index(part)], exercise)
    assert result.verdict is Verdict.FAILED
    assert "return" in result.message.lower() or "None" in result.message


@grouped("exercise", CHECKED, group=str)
def test_the_reference_passes_its_visible_check(judge: Judge, exercise: str) -> None:
    """With all its returns, the check says nothing."""
    result = checked(judge.on_its_own(exercise, reference(exercise)), exercise)
    assert result.verdict is Verdict.PASSED and result.message == ""


def test_a_check_that_only_uses_the_result_is_found() -> None:
    """The proof above can fail: the check ends in an error, not in an assertion."""
    right = "def double(x):\n    return 2 * x"
    source = notebook(
        helpers("imports", "import torch"),
        answer("double", right),
        check("double-check", "assert double(torch.ones(3)).shape == (3,)"),
    )
    result = checked(grade(source, with_answer(source, "double", forgotten(right, "double"))), "double")
    assert result.verdict is Verdict.ERROR and "NoneType" in result.message
