"""Attempts, in the student's process, everything that the first wall forbids.

The doctor submits this file as an answer, with FACTS in front of it. It runs as student code and imports nothing of the
grader. It prints one line of JSON: the attempts that got through, by protection.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = globals().get("FACTS", {})
"""A secret file, a port that accepts connections, and others: the targets that the doctor prepared."""
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library; raise OSError if it fails."""
    if getattr(libc, name)(*arguments) in (-1, 0xFFFFFFFF):
        raise OSError(ctypes.get_errno(), name)


def system_call(number: int, *arguments: Any) -> None:
    """Make a system call; raise OSError if it fails."""
    if libc.syscall(ctypes.c_long(number), *arguments) == -1:
        raise OSError(ctypes.get_errno(), str(number))


def _with_any_process(act: Callable[[int], object]) -> None:
    """Act on the process that grades or, if it is out of sight, on the first process that is visible."""
    try:
        act(FACTS["pid"])
    except OSError:
        act(1)


def _write_a_file() -> None:
    with open(FACTS["secret"], "a") as file:
        file.write("written")


def _connect_to_an_abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(FACTS["abstract"])


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _start_a_program() -> None:
    # In the sandbox `Popen` is a stand-in that starts nothing; reloading brings back the real one.
    importlib.reload(subprocess).run(["/bin/true"], check=True)


def _library_page() -> ctypes.c_void_p:
    """Return the address of a page of the C library, which all processes share."""
    return ctypes.c_void_p((ctypes.cast(libc.printf, ctypes.c_void_p).value or 0) & ~0xFFF)


def _wake_at_a_shared_page() -> None:
    system_call({"x86_64": 202}.get(os.uname().machine, 98), _library_page(), 1, 1, None, None, 0)


def _write_a_large_file() -> None:
    try:
        with open("large", "wb") as file:
            file.write(bytes((FACTS["file_mb"] + 1) * 2**20))
    finally:
        open("large", "w").close()


def _open_many_files() -> None:
    with contextlib.ExitStack() as files:
        for _ in range(1000):
            files.enter_context(open("/dev/null"))


ATTEMPTS: dict[str, dict[str, Callable[[], object]]] = {
    "reading": {
        "Read a file of the user who grades.": lambda: Path(FACTS["secret"]).read_text(),
        "List the folder of that file.": lambda: os.listdir(os.path.dirname(FACTS["secret"])),
        "Read what the kernel shows of a process.": lambda: Path("/proc/self/status").read_text(),
    },
    "names": {
        "See that a process exists.": lambda: os.stat(f"/proc/{FACTS['pid']}"),
        "See how large a file of the user who grades is.": lambda: os.stat(FACTS["secret"]),
        "See a file in which the kernel describes the machine.": lambda: os.stat("/sys/kernel"),
    },
    "writing": {
        "Write to a file of the user who grades.": _write_a_file,
        "Make a file beside it.": lambda: Path(FACTS["secret"] + ".new").touch(),
        "Remove that file.": lambda: os.remove(FACTS["secret"]),
    },
    "network": {
        "Connect to a port of this machine that accepts connections.": lambda: socket.create_connection(
            ("127.0.0.1", FACTS["port"]), timeout=2
        ).close(),
        "Open a socket for datagrams.": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "Connect to a socket without a file that accepts connections.": _connect_to_an_abstract_socket,
    },
    "programs": {
        "Fork.": _fork,
        "Start a program.": _start_a_program,
    },
    "processes": {
        "Ask whether another process could be signalled.": lambda: _with_any_process(lambda pid: os.kill(pid, 0)),
        "Attach to another process.": lambda: _with_any_process(lambda pid: call("ptrace", 0x4206, pid, None, None)),
        "Read the memory of another process.": lambda: _with_any_process(
            lambda pid: Path(f"/proc/{pid}/mem").open("rb").close()
        ),
    },
    "channels": {
        "Wake processes that wait at a page of the C library, which all share.": _wake_at_a_shared_page,
        "Ask how much memory is free and how busy the machine is.": lambda: call(
            "sysinfo", ctypes.create_string_buffer(4096)
        ),
        "Ask how much room is on the disk.": lambda: os.statvfs("."),
        "Ask which pages of a library are in memory.": lambda: call(
            "mincore", _library_page(), ctypes.c_size_t(4096), ctypes.create_string_buffer(8)
        ),
        "Ask for the group of another process.": lambda: _with_any_process(os.getpgid),
    },
    "limits": {
        "Take more memory than the limit.": lambda: bytearray((FACTS["memory_mb"] + 1024) * 2**20),
        "Write a file that is larger than the limit.": _write_a_large_file,
        "Open more files than the limit.": _open_many_files,
        "Raise a limit of this process.": lambda: resource.setrlimit(
            resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        ),
    },
}
"""The attempts, by the protection that should stop them: a sentence, and a function that makes the attempt."""


def got_through(attempt: Callable[[], object]) -> bool:
    """Return True if an attempt succeeds."""
    try:
        attempt()
    except Exception:
        return False
    return True


def outcome() -> dict[str, list[str]]:
    """Make all attempts; return the sentences of those that got through, by protection."""
    return {
        name: [sentence for sentence, attempt in attempts.items() if got_through(attempt)]
        for name, attempts in ATTEMPTS.items()
    }


if FACTS:
    print(json.dumps(outcome()))
