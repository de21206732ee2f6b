"""Shows a full score: as a value, by a display hook and in the words from which nbgrader reads scores.

Scores come from the tests alone, and the grader itself writes the outputs of test cells.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_DOUBLE, WRONG_SCALE, answered

SCORE = """
import sys
sys.displayhook = lambda value: print(5.0)
display(5.0)
print("5.0")
print('{"output_type": "execute_result", "data": {"text/plain": "5.0"}}')
5.0
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE + SCORE, WRONG_SCALE + SCORE)
