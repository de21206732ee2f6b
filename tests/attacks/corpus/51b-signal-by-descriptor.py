"""Makes its parent the owner of a descriptor with SIGKILL as its signal, and then sends something to it.

A confined process cannot set the owner or the signal of a descriptor.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "fcntl.fcntl(read, fcntl.F_SETOWN, os.getppid())",
            "fcntl.fcntl(read, fcntl.F_SETSIG, 9)",
            "fcntl.fcntl(read, 15, struct.pack('ii', 1, os.getppid()))",
            "fcntl.ioctl(3, 0x8901, struct.pack('i', os.getppid()))",
            "fcntl.ioctl(3, 0x8902, struct.pack('i', os.getppid()))",
            "fcntl.ioctl(read, 0x5452, struct.pack('i', 1))",
            "fcntl.fcntl(read, fcntl.F_NOTIFY, 1)",
            "fcntl.fcntl(read, fcntl.F_SETLEASE, 0)",
            "fcntl.fcntl(write, 1031, 2**24)",
            "fcntl.ioctl(0, 0x5412, b'x')",
            setup="""
            import fcntl, os, struct
            read, write = os.pipe()
            fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            """,
        )
        + "\nos.write(write, b'x')",
    )
