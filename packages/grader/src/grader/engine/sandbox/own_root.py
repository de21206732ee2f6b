"""Gives the current process a root folder of its own that holds only what it may read, and its scratch folder.

    / (tmpfs, read-only) +-- usr/lib, .venv/lib, ...   read-only, the same paths as outside
                         +-- tmp/.../scratch           the one folder that it may write

Landlock judges whether a file is opened, and not whether it is looked up: without this, student code could see which
files exist, how large they are and when they were read, and could tell another submission something by them. A
read-only mount records no reading.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grader.engine.sandbox.namespaces import CLONE_NEWNS, libc, unshare

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME = 1, 2, 4, 8, 1024
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
LOCKED = MS_NOSUID | MS_NODEV | MS_NOEXEC
"""Options that a mount keeps in the namespaces of an ordinary user: to leave one out is refused."""
MNT_DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
"""The number of the system call; the C library has no function for it."""


class Tree(NamedTuple):
    """The content of a root folder: symbolic links with their targets, and files and folders with mount options."""

    links: dict[str, str]
    mounts: dict[str, int]


@cache
def tree(readable: frozenset[str]) -> Tree:
    """Return how files and folders can be shown where they lie; the fork server finds out for all its children.

    Args:
        readable: their paths, which may lead through symbolic links. Paths that do not exist are left out.
    """
    links, mounts = dict[str, str](), dict[str, int]()
    for path in sorted(readable):
        real = _followed(path, links)
        if os.path.exists(real) and not any(real.startswith(f"{folder}/") for folder in mounts):
            mounts[real] = MS_RDONLY | os.statvfs(real).f_flag & LOCKED
    return Tree(links, mounts)


def _followed(path: str, links: dict[str, str]) -> str:
    """Note the links that lead to a file or folder, and return where it lies."""
    place = "/"
    for part in path.split("/")[1:]:
        place = os.path.join(place, part)
        if os.path.islink(place):
            links[place] = os.readlink(place)
            target = os.path.join(os.path.dirname(place), links[place], os.path.relpath(path, place))
            return _followed(os.path.normpath(target), links)
    return path


def enter_own_root(scratch: Path, *trees: Tree) -> bool:
    """Make the root folder and enter it; return whether the kernel permits it. If not, nothing has changed.

    Args:
        scratch: the only folder that the process may write to. It becomes the working folder.
        trees: what else there is.

    Raises:
        OSError: the process is in between, and may not run student code.
    """
    number = PIVOT_ROOT.get(os.uname().machine)
    if number is None or not unshare(CLONE_NEWNS):
        return False
    root = str(scratch.parent / "root")
    try:
        os.mkdir(root)
        _mount(None, "/", None, MS_REC | MS_PRIVATE)
        _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")
        for shown in trees:
            for path, options in shown.mounts.items():
                _bind(root, path, options)
            for place, target in shown.links.items():
                if not os.path.lexists(root + place):
                    os.makedirs(os.path.dirname(root + place), exist_ok=True)
                    os.symlink(target, root + place)
        _bind(root, str(scratch), MS_NOSUID | MS_NODEV | os.statvfs(scratch).f_flag & LOCKED)
        os.chdir(root)
        if libc.syscall(ctypes.c_long(number), b".", b".") != 0:
            raise OSError(ctypes.get_errno(), "pivot_root")
    except OSError:
        os.chdir(scratch)
        libc.umount2(os.fsencode(root), MNT_DETACH)
        return False
    if libc.umount2(b".", MNT_DETACH) != 0:  # the old root, which lies on the new one
        raise OSError(ctypes.get_errno(), "the old root folder cannot be left")
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(scratch)
    return True


def _bind(root: str, path: str, options: int) -> None:
    """Mount a file or folder once more below the new root."""
    place = root + path
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT))
    _mount(path, place, None, MS_BIND)
    try:
        _mount(None, place, None, MS_REMOUNT | MS_BIND | MS_NOATIME | options)
    except PermissionError:  # an ordinary user cannot change what is recorded about reading
        _mount(None, place, None, MS_REMOUNT | MS_BIND | options)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    if libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot mount {target}: {os.strerror(number)}")
