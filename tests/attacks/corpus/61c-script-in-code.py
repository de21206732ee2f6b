"""Writes scripts into its code and into the notebook's own metadata: title, authors, language, widgets.

Code is shown as code, and metadata come from the source.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    script = '"></title></script><script>attack()</script>'
    hostile.metadata.update(title=script, authors=[{"name": script}], language_info={"name": script})
    hostile.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": script}}
    for cell in hostile.cells:
        if cell.cell_type == "code":
            cell.source += "\n# </pre></div><script>attack()</script><img src=x onerror=attack()>"
    return hostile
