"""Hands the work to a function of torch that the exercise is to do without, in a layer, and takes the tag away.

The tags are those of the source, and the function is refused while a test calls, from whatever layer the call comes.
"""

from attacks.build import RIGHT_DOUBLE, RIGHT_SCALE, answered
from nbformat import NotebookNode

EARNS = 5

SCALE = RIGHT_SCALE.replace(
    "return x * self.weight",
    "work = nn.Linear(len(self.weight), len(self.weight), bias=False)\n"
    '        return torch.func.functional_call(work, {"weight": torch.diag(self.weight)}, x)',
)


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released, RIGHT_DOUBLE, SCALE)
    for cell in notebook.cells:
        cell.metadata.pop("tags", None)
    return notebook
