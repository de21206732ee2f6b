"""Looks at a confined process from outside, and at what this machine shares between processes.

The kernel is not asked for its version: a process is confined, and then looked at.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path

import py_landlock

from grader.engine.sandbox.confinement import readable_paths

NAMESPACES = {"net": "network", "ipc": "shared memory", "uts": "host name", "pid": "processes", "mnt": "files"}
"""The namespaces that a confined process can have for itself, by the kernel's name for each."""


class Sandboxed:
    """A confined process, seen from outside.

    Args:
        pid: its number.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        lines = (self._folder / "status").read_text().splitlines()
        self._status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def user(self) -> int:
        """The number of the user to whom the kernel attributes what the process does."""
        return int(self._status["Uid"].split()[1])

    @property
    def capabilities(self) -> int:
        """The capabilities that it has or could get, as a set of bits."""
        return int(self._status["CapPrm"], 16) | int(self._status["CapEff"], 16) | int(self._status["CapBnd"], 16)

    def shared_namespaces(self) -> list[str]:
        """Return what the process still shares with this one."""
        return [
            what
            for name, what in NAMESPACES.items()
            if os.readlink(self._folder / "ns" / name) == os.readlink(f"/proc/self/ns/{name}")
        ]

    def mounts_that_record_reading(self) -> list[str]:
        """Return the mounted file systems with libraries that record when it read a file last.

        One submission could tell another something by reading a library, because both see its times. A file system that
        is mounted read-only records nothing.
        """
        mounts = [line.split() for line in (self._folder / "mountinfo").read_text().splitlines()]
        quiet = {mount[4] for mount in mounts if {"ro", "noatime"}.intersection(mount[5].split(","))}
        places = {mount[4] for mount in mounts}
        libraries = {Path(path).resolve() for path in readable_paths() if os.path.isdir(path)}
        holding = {next(str(part) for part in (path, *path.parents) if str(part) in places) for path in libraries}
        return sorted(holding - quiet)


def unscoped() -> list[str]:
    """Return what Landlock alone lets through, in a child with a rule for nothing: signals, abstract sockets."""
    name = f"\0grader-doctor-{os.getpid()}"
    found, answer = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        child = os.fork()
        if child == 0:
            try:
                os.write(answer, " ".join(_unscoped_here(os.getppid(), name)).encode())
            finally:
                os._exit(0)
        os.close(answer)
        os.waitpid(child, 0)
    with open(found) as text:
        return text.read().split()


def _unscoped_here(parent: int, name: str) -> list[str]:
    through = []
    py_landlock.Landlock(strict=False).apply()
    with suppress(OSError):
        os.kill(parent, 0)
        through.append("signals")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(name)
        through.append("sockets")
    return through
