"""Puts symbolic links, hard links, FIFOs and devices where a file is expected, for the grader to follow or to wait at.

None of them can be made, and the grader opens nothing in the working folder.
"""

from attacks.build import instead, trying
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "os.symlink('/etc/passwd', 'exercises.ipynb')",
            "os.symlink('/', 'all')",
            "os.mkfifo('pipe')",
            "os.mknod('device', 0o20666, os.makedev(1, 5))",
            "os.link('/etc/passwd', 'passwd')",
            "os.link('/proc/self/exe', 'exe')",
            setup="import os",
        ),
    )
