"""Reads /proc: its own environment, arguments, descriptors and memory, and those of all other processes.

No file in /proc can be opened.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            *(
                f"print(open(f'/proc/{who}/{what}', 'rb').read(99999))"
                for who in ("self", "{os.getppid()}", "{os.getppid() - 1}", "1")
                for what in ("environ", "cmdline", "maps", "mem", "status", "root/etc/passwd")
            ),
            "os.listdir('/proc')",
            "os.listdir('/proc/self/fd')",
            "os.readlink(f'/proc/{os.getppid()}/cwd')",
            "os.readlink(f'/proc/{os.getppid()}/exe')",
            setup="import os",
        ),
    )
