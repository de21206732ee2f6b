"""Claims a format that is still to come, in which a cell may be of any kind: its kind is a script for the page.

It is checked by the newest format that there is, and reported as no notebook.
"""

import json

import nbformat
from attacks.build import answered
from nbformat import NotebookNode

UNKNOWN = {"cell_type": "graph", "metadata": {}, "source": "x", "id": "graph", "type": "<script>attack()</script>"}


def submission(released: NotebookNode) -> bytes:
    notebook = json.loads(nbformat.writes(answered(released)))
    return json.dumps(notebook | {"nbformat_minor": 99, "cells": [UNKNOWN, *notebook["cells"]]}).encode()
