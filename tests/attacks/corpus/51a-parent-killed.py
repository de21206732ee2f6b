"""Signals its parent, its process group, all processes and those with ids near its own.

A process can signal only itself.
"""

from nbformat import NotebookNode

from tests.attacks.build import calling, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "os.kill(os.getppid(), 9)",
            "os.kill(os.getpid() + 1, 9)",
            "os.kill(os.getpid() - 1, 9)",
            "os.kill(0, 0)",
            "os.kill(-1, 0)",
            "os.kill(1, 0)",
            "os.killpg(os.getpgrp(), 0)",
            "signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)",
            "assert libc.sigqueue(os.getppid(), 0, 0) == 0",
            setup="import ctypes, os, signal\nlibc = ctypes.CDLL(None)",
        )
        + calling((424, 3, 0, 0, 0), (434, 1, 0), (438, 3, 0, 0), ("tgkill", 1, 1, 0)),
    )
