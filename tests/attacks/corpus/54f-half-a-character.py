"""Has half a surrogate pair in its cells, which JSON can write and UTF-8 cannot: in code, in text, in an answer.

It is replaced on arrival, so that every file can be written.
"""

import nbformat
from attacks.build import answered, appended
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> bytes:
    hostile = appended(appended(answered(released), "x = 'HALF'"), text="HALF")
    hostile.cells[-1].metadata["HALF"] = "HALF"
    return nbformat.writes(hostile).encode().replace(b"HALF", b"\\ud800").replace(b"2 is", b"\\udfff is")
