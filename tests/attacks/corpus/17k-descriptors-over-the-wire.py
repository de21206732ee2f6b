"""Sends open files with its replies, by the thousand, to use up the runner's descriptors or the kernel's memory.

A confined process cannot send descriptors at all.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, on_channel, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        on_channel("import array, os, socket")
        + trying(
            "line.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [3]))])",
            "socket.send_fds(line, [b'x'], [3] * 60)",
            "line.setsockopt(socket.SOL_SOCKET, 32, 2**30)",
            "import os; os.memfd_create('x')",
        ),
    )
