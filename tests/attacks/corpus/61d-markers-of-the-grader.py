"""Writes the markers that nbgrader looks for, without their ends, so that a later step finds a broken cell.

A step that fails on one submission does not affect the others.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended
from tests.support.notebooks import cell

EARNS = 5

MARKERS = (
    *("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS", "### BEGIN SOLUTION", "### END SOLUTION"),
    *("=== BEGIN MARK SCHEME ===", "=== END MARK SCHEME ===", "BEGIN MARK SCHEME", "{% raw %}{{ 7 * 7 }}"),
)


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    cell(hostile, "question").source = "\n".join(MARKERS)
    cell(hostile, "scale").source += "\n# " + MARKERS[0]
    for marker in MARKERS:
        hostile = appended(appended(hostile, f"# {marker}"), text=marker)
    return hostile
