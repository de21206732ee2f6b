"""Tags test cells `experiment` and `skip-execution`, which graders pass over, and takes their points away.

Tests come from the source, with the metadata that they have there.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_DOUBLE, answered


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released, WRONG_DOUBLE)
    for cell in hostile.cells:
        cell.metadata["tags"] = ["experiment", "skip-execution", "nbgrader-skip", "raises-exception"]
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.update(points=1000, schema_version=99, locked=False)
            cell.metadata.nbgrader["task"] = True
    return hostile
