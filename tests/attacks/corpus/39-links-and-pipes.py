"""Puts symbolic links, hard links, FIFOs and devices in the place of files that the grader might open.

None of them can be made, and the grader opens nothing in the working folder.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

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
