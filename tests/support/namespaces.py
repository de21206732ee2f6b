"""Makes a machine within this one: mounts, processes and a network of its own, in which any user can run Python.

`unshared()` begins a command that runs there; `settle()` is the first thing that the command does.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.support.paths import REPOSITORY

SPACES = ("--mount", "--pid", "--net")
STAGE = Path("/mnt")
"""Where mounts of the new machine begin; everything below it is hidden there."""
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def refused() -> str:
    """Return why there can be no such machine; nothing if there can."""
    if os.geteuid() or subprocess.run(["unshare", *SPACES, "true"], capture_output=True).returncode:
        return "only root may make users, and only where the container allows namespaces"
    return ""


def unshared(*command: str | Path) -> list[str | Path]:
    """Return a command that runs another one in namespaces of its own, all of which end with it."""
    spaces = ["unshare", *SPACES, "--fork", "--kill-child", "--mount-proc"]
    return ["setpriv", "--pdeathsig", "KILL", *spaces, *command]


def settle(readable: Iterable[Path] = ()) -> None:
    """Start the network, and let every user read Python, the repository and more folders; /etc becomes a copy."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    mount("-t", "tmpfs", "-o", "mode=755", "none", STAGE)
    for target in (Path(sys.prefix), Path(sys.base_prefix), REPOSITORY, *readable):
        # Interpreter and repository may lie in root's home folder.
        for folder in (*reversed(target.parents), target):
            if not folder.stat().st_mode & 0o001:
                _overlay(folder)
    _overlay(Path("/etc"))


def mount(*arguments: str | Path) -> None:
    """Run mount; raise an error if it fails."""
    subprocess.run(["mount", *arguments], check=True)


def _overlay(folder: Path) -> None:
    """Hide a folder behind a copy of itself that may be changed, and entered by everyone."""
    layers = Path(tempfile.mkdtemp(dir=STAGE))
    for name in ("upper", "work"):
        (layers / name).mkdir()
    mount("-t", "overlay", "-o", f"lowerdir={folder},upperdir={layers}/upper,workdir={layers}/work", "none", folder)
