"""Lifts its own limits, which root may do, and leaves its control group.

A confined process can read its limits and not set them.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    kinds = ("AS", "FSIZE", "NOFILE", "NPROC", "CORE", "STACK")
    return instead(
        released,
        trying(
            *(f"resource.setrlimit(resource.RLIMIT_{kind}, (2**40, 2**40))" for kind in kinds),
            *(f"resource.prlimit(0, resource.RLIMIT_{kind}, (2**40, 2**40))" for kind in kinds),
            "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (9, 9))",
            "open('/sys/fs/cgroup/cgroup.procs', 'w').write('0')",
            "os.nice(-20)",
            "os.sched_setaffinity(0, range(64))",
            "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))",
            setup="import os, resource",
        ),
    )
