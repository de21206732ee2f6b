"""A terminal in which a person types `grader check`, with a daemon in the background."""

import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pexpect

from tests.support.notebooks import answered
from tests.support.small_class import RIGHT, released
from tests.support.waiting import HANGS

PROGRAM = [str(Path(sys.executable).with_name("grader")), "check"]


@dataclass
class Terminal:
    """A course with notebooks of its student, and the environment of a terminal in which the daemon is wanted."""

    course: Path
    environment: dict[str, str]

    @property
    def sockets(self) -> list[Path]:
        """The sockets of daemons."""
        return sorted(Path(self.environment["XDG_RUNTIME_DIR"]).glob("*/*.socket"))

    @property
    def daemon(self) -> int:
        """The number of the daemon's process."""
        with self.connected() as connection:
            form = struct.Struct("3i")
            return form.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size))[0]

    def connected(self) -> socket.socket:
        """Return a connection to the daemon."""
        (path,) = self.sockets
        connection = socket.socket(socket.AF_UNIX)
        folder = os.open(path.parent, os.O_RDONLY)
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")  # the path itself may be too long
        os.close(folder)
        return connection

    def write(self, name: str, **answers: str) -> str:
        """Write a notebook with these answers and return its path."""
        folder = self.course / name
        folder.mkdir(exist_ok=True)
        nbformat.write(answered(released(self.course), **RIGHT | answers), folder / "small.ipynb")
        return f"{name}/small.ipynb"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start the command."""
        return subprocess.Popen(
            [*PROGRAM, *arguments], cwd=self.course, env=self.environment | environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Return what the command ends with and prints."""
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=HANGS)
        return process.returncode, out, err

    def type(self, *arguments: str) -> "pexpect.spawn[str]":
        """Start the command in a terminal."""
        return pexpect.spawn(
            PROGRAM[0], [*PROGRAM[1:], *arguments], cwd=self.course, env=self.environment, encoding="utf-8",
            timeout=HANGS, dimensions=(24, 60),
        )  # fmt: skip


def descendants(process: int) -> set[int]:
    """The processes that `process` has started, and those that they have started."""
    found: set[int] = set()
    todo = [process]
    while todo:
        tasks = Path(f"/proc/{todo.pop()}/task")
        try:
            children = {int(pid) for path in tasks.glob("*/children") for pid in path.read_text().split()}
        except OSError:
            continue
        todo += children - found
        found |= children
    return found


def held(process: int) -> list[str]:
    """The open files of a process."""
    files = []
    for path in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # of a connection that has just ended
            files.append(os.readlink(path))
    return files
