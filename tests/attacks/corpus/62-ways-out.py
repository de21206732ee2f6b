"""Tries all ways out of a confinement: namespaces, mounts, other users, io_uring, bpf, programs in memory.

A call that is not on the short list of allowed ones fails, whoever the user is.
"""

from nbformat import NotebookNode

from tests.attacks.build import calling, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        calling(
            ("unshare", 0x10000000),
            ("unshare", 0x20000),
            ("setns", 3, 0),
            ("mount", b"none", b".", b"tmpfs", 0, 0),
            ("umount2", b"/proc", 2),
            ("chroot", b"."),
            ("setuid", 0),
            ("setgid", 0),
            ("setreuid", 0, 0),
            ("setsid",),
            ("personality", 0),
            ("prctl", 4, 1, 0, 0, 0),
            ("prctl", 1, 0, 0, 0, 0),
            ("prctl", 38, 0, 0, 0, 0),
            ("inotify_init",),
            ("fanotify_init", 0, 0),
            ("memfd_create", b"x", 0),
            ("execve", b"/bin/true", 0, 0),
            ("timerfd_create", 1, 0),
            ("signalfd", -1, 0, 0),
            ("name_to_handle_at", -100, b"/", 0, 0, 0),
            (425, 8, 0),
            (426, 3, 0, 0, 0, 0, 0),
            (428, -100, b"/", 0),
            (430, b"tmpfs", 0),
            (437, -100, b"/etc/passwd", 0, 0),
            (442, -100, b".", 0, 0, 0),
            (444, 0, 0, 0),
            (446, 0, 0),
            (452, -100, b".", 0o777, 0),
        )
        + trying("os.setuid(0)", "os.setgroups([])", setup="import os"),
    )
