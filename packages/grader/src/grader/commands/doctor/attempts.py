"""Attempts, in the student's process, everything that the first wall forbids.

The doctor hands this file in as an answer, with FACTS in front of it, so it runs where student code runs and imports
nothing of the grader. It prints one line of JSON: for each protection the attempts that got through.
"""

import contextlib
import ctypes
import json
import os
import resource
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = globals().get("FACTS", {})
"""A secret file, a port that accepts connections and other things that the doctor prepared for the attempts."""
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library; raise OSError if it fails."""
    if getattr(libc, name)(*arguments) in (-1, 0xFFFFFFFF):
        raise OSError(ctypes.get_errno(), name)


def system_call(number: int, *arguments: Any) -> None:
    """Make a system call; raise OSError if it fails."""
    if libc.syscall(ctypes.c_long(number), *arguments) == -1:
        raise OSError(ctypes.get_errno(), str(number))


def read_a_file() -> None:
    """Read a file of the user who grades."""
    Path(FACTS["secret"]).read_text()


def list_a_folder() -> None:
    """List the folder of that file."""
    os.listdir(os.path.dirname(FACTS["secret"]))


def read_about_processes() -> None:
    """Read what the kernel shows of a process."""
    Path("/proc/self/status").read_text()


def see_a_process() -> None:
    """See that a process exists."""
    os.stat(f"/proc/{FACTS['pid']}")


def see_a_file() -> None:
    """See how large a file of the user who grades is."""
    os.stat(FACTS["secret"])


def see_a_device() -> None:
    """See a file in which the kernel describes the machine."""
    os.stat("/sys/kernel")


def write_a_file() -> None:
    """Write to a file of the user who grades."""
    with open(FACTS["secret"], "a") as file:
        file.write("written")


def make_a_file() -> None:
    """Make a file beside it."""
    Path(FACTS["secret"] + ".new").touch()


def remove_a_file() -> None:
    """Remove that file."""
    os.remove(FACTS["secret"])


def connect_to_a_port() -> None:
    """Connect to a port of this machine that accepts connections."""
    socket.create_connection(("127.0.0.1", FACTS["port"]), timeout=2).close()


def open_a_udp_socket() -> None:
    """Open a socket for datagrams."""
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


def connect_to_an_abstract_socket() -> None:
    """Connect to a socket without a file that accepts connections."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(FACTS["abstract"])


def fork_a_process() -> None:
    """Fork."""
    if os.fork() == 0:
        os._exit(0)


def start_a_program() -> None:
    """Start a program."""
    subprocess.run(["/bin/true"], check=True)


def with_any_process(act: Callable[[int], object]) -> None:
    """Do something with the process that grades or, if it cannot be seen from here, with the first that can."""
    try:
        act(FACTS["pid"])
    except OSError:
        act(1)


def signal_a_process() -> None:
    """Ask whether another process could be signalled."""
    with_any_process(lambda process: os.kill(process, 0))


def trace_a_process() -> None:
    """Attach to another process."""
    with_any_process(lambda process: call("ptrace", 0x4206, process, None, None))


def read_memory_of_a_process() -> None:
    """Read the memory of another process."""
    with_any_process(lambda process: Path(f"/proc/{process}/mem").open("rb").close())


def wake_at_a_shared_page() -> None:
    """Wake those who wait at a page of the C library, which all processes share."""
    page = (ctypes.cast(libc.printf, ctypes.c_void_p).value or 0) & ~0xFFF
    system_call({"x86_64": 202}.get(os.uname().machine, 98), ctypes.c_void_p(page), 1, 1, None, None, 0)


def ask_about_the_machine() -> None:
    """Ask how much memory is free and how busy the machine is."""
    call("sysinfo", ctypes.create_string_buffer(4096))


def ask_about_the_disk() -> None:
    """Ask how much room is on the disk."""
    os.statvfs(".")


def ask_about_cached_pages() -> None:
    """Ask which pages of a library are in memory."""
    page = (ctypes.cast(libc.printf, ctypes.c_void_p).value or 0) & ~0xFFF
    call("mincore", ctypes.c_void_p(page), ctypes.c_size_t(4096), ctypes.create_string_buffer(8))


def ask_about_a_process() -> None:
    """Ask for the group of another process."""
    with_any_process(os.getpgid)


def take_too_much_memory() -> None:
    """Take more memory than the limit."""
    bytearray((FACTS["memory_mb"] + 1024) * 2**20)


def write_a_large_file() -> None:
    """Write more into one file than the limit."""
    try:
        with open("large", "wb") as file:
            file.write(bytes((FACTS["file_mb"] + 1) * 2**20))
    finally:
        open("large", "w").close()


def open_many_files() -> None:
    """Open more files than the limit."""
    with contextlib.ExitStack() as files:
        for _ in range(1000):
            files.enter_context(open("/dev/null"))


def raise_a_limit() -> None:
    """Raise a limit of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


ATTEMPTS: dict[str, list[Callable[[], None]]] = {
    "reading": [read_a_file, list_a_folder, read_about_processes],
    "names": [see_a_process, see_a_file, see_a_device],
    "writing": [write_a_file, make_a_file, remove_a_file],
    "network": [connect_to_a_port, open_a_udp_socket, connect_to_an_abstract_socket],
    "programs": [fork_a_process, start_a_program],
    "processes": [signal_a_process, trace_a_process, read_memory_of_a_process],
    "channels": [
        wake_at_a_shared_page,
        ask_about_the_machine,
        ask_about_the_disk,
        ask_about_cached_pages,
        ask_about_a_process,
    ],
    "limits": [take_too_much_memory, write_a_large_file, open_many_files, raise_a_limit],
}


def got_through(attempt: Callable[[], None]) -> bool:
    """Whether an attempt did what it wanted."""
    try:
        attempt()
    except Exception:
        return False
    return True


def outcome() -> dict[str, list[str]]:
    """Make all attempts; return for each protection what those wanted that got through."""
    return {
        name: [attempt.__doc__ or attempt.__name__ for attempt in attempts if got_through(attempt)]
        for name, attempts in ATTEMPTS.items()
    }


if FACTS:
    print(json.dumps(outcome()))
