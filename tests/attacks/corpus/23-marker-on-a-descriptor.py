"""Writes words of success to stdout, to stderr and to every descriptor that may be open.

The only descriptor besides /dev/null is the channel, and bytes that are no reply end the sandbox.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
