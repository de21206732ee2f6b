"""Shows which instructors' notebooks are refused before a class is graded: tests that test nothing."""

import re

import pytest

from grader.engine.grading import grade
from grader.engine.notebook.folder.files import require_tests
from grader.errors import GraderError
from tests.support.notebooks import answer, check, helpers, hidden, notebook, text

NOTHING = [
    "",
    "# The test is to come",
    '"""Checks squares."""',
    "\n# one\n\n  # two\n",
    "### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS",
    "# a\n'text'\n'''more\ntext'''",
]
SOMETHING = ["assert True", "pass", "# a\nf(1)", "2.5", "%timeit f(1)", "x = 'text'", "import f"]


def test_a_test_with_points_and_no_statement_is_refused():
    """It would give its points to everybody. Without points it may stay, and what a statement proves is not asked."""
    for source in NOTHING:
        require_tests(notebook(check("f-check", source, points=0)), "01/one.ipynb")
        with pytest.raises(
            GraderError, match=re.escape("01/one.ipynb: the test f-check has 2 points and only comments")
        ):
            require_tests(notebook(answer("f", ""), check("f-check", source, points=2)), "01/one.ipynb")
    for source in SOMETHING:
        require_tests(notebook(text(""), helpers("h", "# nothing"), check("f-check", source)), "01/one.ipynb")
        require_tests(notebook(hidden("f-test-x", "X holds.", source)), "01/one.ipynb")


def test_no_test_that_nbgrader_must_still_instantiate_is_graded():
    """Until then it is a comment, which a blank would pass. The error names the cell and the line.

    As in nbgrader, the word counts in comments only.
    """
    f = answer("f", "def f(x):\n    return x")
    for line in ("### AUTOTEST f(1)", "  # HASHED AUTOTEST f(1); f(2)", "#AUTOTEST f(1)"):
        source = notebook(f, check("f-check", f"# Checks f.\nx = 1\n{line}"))
        with pytest.raises(GraderError, match="^f-check, line 3: AUTOTEST is a comment"):
            grade(source, source)
    source = notebook(f, check("f-check", "assert f('AUTOTEST') == 'AUTOTEST'"))
    assert grade(source, source).points == 1
