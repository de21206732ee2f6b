"""Who forgets a `return` reads so, in words, in the visible check of the exercise.

Python's own error, that a NoneType has no shape, comes out of a cell of ours which the student has not written.
"""

import ast

import pytest
from exercises import SOURCES, reference, submit
from notebooks import answer, check, helpers, notebook

from course.grading.grade import grade
from course.grading.notebook import grade_id, with_answer
from course.grading.report import Report, Result, Verdict

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


@pytest.mark.parametrize(
    ("exercise", "part"), [(exercise, part) for exercise in CHECKED for part in parts(reference(exercise))]
)
def test_a_missing_return_is_called_so(exercise: str, part: str) -> None:
    """By an assertion of the check, not by an error of Python's, and not by a sentence about something else."""
    result = checked(submit(exercise, forgotten(reference(exercise), part), whole=False, named=False), exercise)
    assert result.verdict is Verdict.FAILED
    assert "return" in result.message.lower() or "None" in result.message


@pytest.mark.parametrize("exercise", CHECKED)
def test_the_reference_passes_its_visible_check(exercise: str) -> None:
    """With its returns it is told nothing."""
    result = checked(submit(exercise, reference(exercise), whole=False, named=False), exercise)
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
