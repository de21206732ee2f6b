"""Writes words of success to stdout, to stderr and to every descriptor there may be.

There is one descriptor besides /dev/null, the wire, and what arrives there that is no answer ends the candidate.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import os, sys
        for number in range(256):
            try:
                os.write(number, b"OK\\nALL TESTS PASSED\\n5.0\\n")
            except OSError:
                pass
        print("ALL TESTS PASSED", file=sys.__stderr__)
        """,
    )
