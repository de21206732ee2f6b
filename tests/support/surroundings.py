"""Runs a program as another user or on a poorer kernel: for real, with the kernel's own means."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY

REFUSING = """
import errno, os, sys
from grader.engine.sandbox.isolation.system_calls import ALLOW, ERRNO, SyscallFilter
rules = SyscallFilter(ALLOW)
for call in sys.argv[1].split(","):
    rules.add_rule(ERRNO(errno.EPERM), call)
rules.load()
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Starts Python with arguments in a process for which the kernel refuses system calls."""


def can_be_plain_user() -> bool:
    """Return whether this process is root's and may make a mount namespace."""
    unshare = shutil.which("unshare")
    return os.geteuid() == 0 and unshare is not None and subprocess.run([unshare, "--mount", "true"]).returncode == 0


def python(*arguments: str) -> list[str]:
    """Return the command that runs Python with arguments as this user."""
    return [sys.executable, *arguments]


def python_without(calls: str, *arguments: str) -> list[str]:
    """Return the command that runs Python on a kernel that refuses system calls, given with commas between them."""
    return [sys.executable, "-c", REFUSING, calls, *arguments]


def python_as_plain_user(folder: Path, *arguments: str) -> list[str]:
    """Return the command that runs Python as a user without rights.

    Where only root may enter a folder above Python or above this repository, the command first puts an open folder in
    its place, in a mount namespace that ends with it.

    Args:
        folder: an empty folder.
        arguments: what Python is called with.
    """
    needed = sorted({Path(sys.base_prefix), Path(sys.prefix), REPOSITORY})
    script = ["set -e"]
    closed = {outer for path in needed if (outer := _closed_folder(path)) is not None}
    for number, outer in enumerate(sorted(closed)):
        inside = [path.relative_to(outer) for path in needed if path.is_relative_to(outer)]
        script += [f"mkdir {folder}/{number}", f"mount --bind {outer} {folder}/{number}"]
        script += [f"mount -t tmpfs -o mode=755 tmpfs {outer}"]
        script += [
            f"mkdir -p {outer}/{path} && mount --bind {folder}/{number}/{path} {outer}/{path}" for path in inside
        ]
    script.append('exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"')
    shell = ["sh", "-c", "\n".join(script), "sh"]
    return ["unshare", "--mount", "--propagation", "private", *shell, sys.executable, *arguments]


def _closed_folder(path: Path) -> Path | None:
    """The outermost folder above `path` that other users may not enter."""
    return next((outer for outer in reversed(path.parents) if not outer.stat().st_mode & 0o001), None)
