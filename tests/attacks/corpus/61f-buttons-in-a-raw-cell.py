"""Hides a button of the formgrader in a raw cell: a click on it gives full points for a test.

Raw cells used to be HTML that keeps classes and ids. Now a page shows their text.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_raw_cell

from tests.attacks.build import answered

EARNS = 5

BUTTON = """<div class="nbgrader_cell"><span id="double-test-values"></span>
<a class="full-credit btn btn-link" onclick="attack()">Show my drawing</a></div>
<div class="navbar-fixed-top container panel"><div class="panel-heading">exercises (Score: 10.0 / 10.0)</div></div>"""


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells.insert(0, new_raw_cell(BUTTON))
    return hostile
