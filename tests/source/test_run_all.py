"""A released notebook without any change runs as a whole in JupyterLab, and shows no red box."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from grader_kernel.contract import CHECK
from tests.support.notebooks import IN_A_FRONT_END
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

RELEASED = [*sorted(REPOSITORY.glob("release/*/*.ipynb")), REPOSITORY / "release" / "start.ipynb"]


def run_all(notebook: NotebookNode, folder: Path, home: Path) -> NotebookNode:
    """Run all cells as JupyterLab does: up to an error in a cell that is not tagged "raises-exception"."""
    client = NotebookClient(
        notebook, config=IN_A_FRONT_END, timeout=HANGS, resources={"metadata": {"path": str(folder)}}
    )
    client.shutdown_kernel = "immediate"
    client.execute(env={**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1"})
    return notebook


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_notebook_opened_afresh_shows_no_red_box(path: Path, tmp_path: Path) -> None:
    """Each check says in plain text that its exercise is not written yet, and the last cell shows its button."""
    cells = [cell for cell in run_all(nbformat.read(path, as_version=4), path.parent, tmp_path).cells if cell.source]
    outputs = {cell.source: cell.outputs for cell in cells if cell.cell_type == "code"}
    kinds = [(output.output_type, output.get("name")) for each in outputs.values() for output in each]
    assert kinds and not {kind for kind in kinds if kind[0] == "error" or kind[1] == "stderr"}
    checks = {source: "".join(output.text for output in outputs[source]) for source in outputs if CHECK.match(source)}
    assert checks
    for source, text in checks.items():
        name = CHECK.match(source)[1]
        assert text.startswith(f"○ Not written yet: {name}.\n") and text.count("○") == 1
    if path.stem != "start":
        button, report = cells[-1].outputs
        assert "application/vnd.jupyter.widget-view+json" in button.data and not report.data["text/html"]
