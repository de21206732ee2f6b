"""Claims a future notebook format, in which a cell may have any type: the type is a script for the page.

The grader reads the cell as text, and its page shows the type nowhere as markup. The answers of the notebook count.
"""

import json

import nbformat
from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 5
UNKNOWN = {"cell_type": "graph", "metadata": {}, "source": "x", "id": "graph", "type": "<script>attack()</script>"}


def submission(released: NotebookNode) -> bytes:
    notebook = json.loads(nbformat.writes(answered(released)))
    return json.dumps(notebook | {"nbformat_minor": 99, "cells": [UNKNOWN, *notebook["cells"]]}).encode()
