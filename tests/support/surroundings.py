"""Runs a program as another user or on a poorer kernel: for real, with the kernel's own means."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY

REFUSING = """
import errno, os, sys
import pyseccomp
rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for call in sys.argv[1].split(","):
    rules.add_rule(pyseccomp.ERRNO(errno.EPERM), call)
rules.load()
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Starts Python with arguments in a process for which the kernel refuses system calls."""

AS_PLAIN_USER = """
set -e
tree="$1"; shift
# Where only root may enter a folder above Python or above this repository, it is replaced by an open one, in a mount
# namespace that ends with this program.
for needed in "$@"; do
    [ "$needed" = -- ] && break
    closed="$needed"
    while [ "$closed" != / ]; do
        closed="$(dirname "$closed")"
        [ "$(stat -c %A "$closed" | cut -c 10)" = x ] && continue
        mkdir -p "$tree$closed"
        mount --bind "$closed" "$tree$closed"
        mount -t tmpfs -o mode=755 tmpfs "$closed"
        mkdir -p "$needed"
        mount --bind "$tree$needed" "$needed"
    done
done
while [ "$1" != -- ]; do shift; done
shift
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


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

    Args:
        folder: an empty folder.
        arguments: what Python is called with.
    """
    needed = sorted({sys.base_prefix, sys.prefix, str(REPOSITORY)})
    unshare = ["unshare", "--mount", "--propagation", "private", "sh", "-c", AS_PLAIN_USER, "sh"]
    return [*unshare, str(folder), *needed, "--", sys.executable, *arguments]
