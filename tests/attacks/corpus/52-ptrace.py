"""Attaches to the runner as a debugger, reads its memory and writes into it.

The kernel refuses all these calls.
"""

from nbformat import NotebookNode

from tests.attacks.build import calling, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        calling(
            ("ptrace", 16, 1, 0, 0),
            ("ptrace", 0, 0, 0, 0),
            ("process_vm_readv", 1, 0, 0, 0, 0, 0),
            ("process_vm_writev", 1, 0, 0, 0, 0, 0),
            (438, 3, 0, 0),
            (440, 3, 0, 0, 0, 0),
        )
        + trying("open(f'/proc/{os.getppid()}/mem', 'r+b')", setup="import os"),
    )
