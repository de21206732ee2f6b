"""Writes links by the thousand of a kind that nbconvert looks for, in time by the cube of their number.

The page of plain text looked for them too, and nobody behind this student was graded. Now nobody looks for them.
"""

from attacks.build import answered, appended
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released), text="[](files/" * 2500)
