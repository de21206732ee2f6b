"""A notebook of two exercises and a written question, its right answers, and its grading with all repairs."""

from nbformat import NotebookNode

from grader.engine.grading import grade
from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook, text, written

SOURCE = notebook(
    text("# Two exercises"),
    helpers("imports", "import math\nimport torch"),
    answer("one", "def one():\n    return 1"),
    check("one-check", "assert one() == 1"),
    answer("two", "def two():\n    return 2"),
    hidden("two-test-value", "Two is two.", "assert two() == 2"),
    written("why", "Because."),
)


def right() -> NotebookNode:
    """Return right answers to everything, as the student's JupyterLab saved them."""
    return answered(SOURCE, one="def one():\n    return 3 - 2", why="It had to be.")


def graded(submission: NotebookNode) -> tuple[float, str]:
    """Return the points of a submission, and its repairs as one text."""
    report = grade(SOURCE, submission)
    return report.points, " | ".join(map(str, report.repairs))
