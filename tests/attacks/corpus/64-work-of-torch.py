"""Hands the work to a torch function that the exercise forbids, in a layer, and removes the tag.

The tags come from the source, and the function is forbidden while a test calls, in whatever layer.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, RIGHT_SCALE, answered

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
