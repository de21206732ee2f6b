"""Shows a full score: as a value, by a display hook and in the words nbgrader reads scores from.

Scores come from the tests alone; the outputs of a test cell are put there by the grader.
"""

from attacks.build import WRONG_DOUBLE, WRONG_SCALE, answered
from nbformat import NotebookNode

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
