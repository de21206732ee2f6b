"""Tests as other courses write them are graded as stock nbgrader grades them: 98 patterns, right and wrong."""

import pytest
from nbclient import NotebookClient

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.foreign.patterns import Pattern, patterns
from tests.support.notebooks import notebook
from tests.support.paths import GRADER

CENSUS = patterns()
TOGETHER = "together"


def named(pattern: Pattern) -> str:
    return pattern.name.replace(" ", "-")


def points(pattern: Pattern, answered: str, *tags: str) -> float:
    """Return what an answer earns; 1 is all."""
    source = pattern.notebook(pattern.right, *tags)
    return grade(source, pattern.notebook(answered, *tags)).points


def test_the_census_is_whole():
    """The page for authors says how many of its patterns need no tag."""
    assert len(CENSUS) == len({each.name for each in CENSUS}) == 98
    free = sum(not each.needs_together for each in CENSUS)
    page = (GRADER / "docs/writing-tests.md").read_text()
    assert free == 96 and f"{free} need no tag, and all 98 work with it" in page


@pytest.mark.slow
@pytest.mark.parametrize("answered", ["right", "wrong"])
def test_stock_agrees(answered):
    """In one kernel, as nbgrader runs a notebook, each right answer passes its test and each wrong one fails it."""
    cells = [each.cells(getattr(each, answered)) for each in CENSUS]
    ran = notebook(*(cell for pair in cells for cell in pair))
    NotebookClient(ran, kernel_name="python3", allow_errors=True).execute()
    passed = [each.name for each, cell in zip(CENSUS, ran.cells[1::2], strict=True) if not failed(cell)]
    assert passed == ([each.name for each in CENSUS] if answered == "right" else [])


def failed(cell) -> bool:
    return any(output.output_type == "error" for output in cell.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [each for each in CENSUS if not each.needs_together], ids=named)
def test_across_the_boundary(pattern):
    """Its right answer has full points, its wrong one none."""
    assert (points(pattern, pattern.right), points(pattern, pattern.wrong)) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", CENSUS, ids=named)
def test_together(pattern):
    """Beside the student's code, all of them work."""
    assert (points(pattern, pattern.right, TOGETHER), points(pattern, pattern.wrong, TOGETHER)) == (1, 0)


@pytest.mark.parametrize("pattern", [each for each in CENSUS if each.needs_together], ids=named)
def test_what_needs_the_tag_is_refused_without_blaming_the_student(pattern):
    """Without it, the right answer is not called wrong: the test is."""
    [result] = grade(pattern.notebook(pattern.right), pattern.notebook(pattern.right)).results
    assert result.verdict is not Verdict.PASSED
