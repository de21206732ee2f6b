"""Writes thousands of links that nbconvert looks for in time cubic in their number.

The plain-text page looked for them too, and no later student was graded. Now no page looks for them.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released), text="[](files/" * 2500)
