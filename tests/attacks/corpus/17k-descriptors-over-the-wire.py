"""Sends open files with its answers, by the thousand, to use up the examiner's descriptors or the kernel's memory.

A confined process cannot send descriptors at all.
"""

from attacks.build import instead, trying, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("import array, os, socket")
        + trying(
            "line.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [3]))])",
            "socket.send_fds(line, [b'x'], [3] * 60)",
            "line.setsockopt(socket.SOL_SOCKET, 32, 2**30)",
            "import os; os.memfd_create('x')",
        ),
    )
