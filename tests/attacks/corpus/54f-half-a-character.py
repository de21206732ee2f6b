"""Has half a surrogate pair in its cells, which JSON can hold and UTF-8 cannot: in code, in text, in an answer.

The grader replaces it on arrival, so that every file can be written.
"""

import nbformat
from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 5


def submission(released: NotebookNode) -> bytes:
    hostile = appended(appended(answered(released), "x = 'HALF'"), text="HALF")
    hostile.cells[-1].metadata["HALF"] = "HALF"
    return nbformat.writes(hostile).encode().replace(b"HALF", b"\\ud800").replace(b"2 is", b"\\udfff is")
