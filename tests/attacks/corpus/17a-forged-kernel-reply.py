"""Looks for a kernel's connection file and its key, to sign a reply of its own.

There is no kernel, and the folders where a kernel keeps its file cannot be read.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "get_ipython().kernel.session.key",
            "from ipykernel.connect import get_connection_file; open(get_connection_file()).read()",
            "import os; os.listdir(os.path.expanduser('~/.local/share/jupyter/runtime'))",
        ),
    )
