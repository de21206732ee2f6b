"""Separates student code from what the processes of a machine share: a second wall, where the kernel offers it.

    fork server -- own_process_namespace --> all its later children see no process but each other
    sandbox     -- go_on_alone           --> it sees no process but itself
                -- own_namespaces        --> an empty network, no shared memory of others, its own host name
                -- enter_own_root        --> no file but those that it may read, and its scratch folder:

    / (tmpfs, read-only) +-- usr/lib, .venv/lib, ...   read-only, the same paths as outside
                         +-- tmp/.../scratch           the only folder that it may write to

A kernel or a container may refuse any of this without an error: the first wall (confinement.py) holds without it.
Landlock checks opening a file but not looking it up. Without a root of its own, student code could see which files
exist, how large they are and when they were read, and could leave signs there for another submission. A read-only mount
records no reads.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
SHARED = {"network": 0x40000000, "IPC": 0x08000000, "host name": 0x04000000, "cgroup": 0x02000000}
"""Namespaces that a sandbox gets for itself, with their flags of the system call unshare."""
PR_SET_PDEATHSIG = 1
FIRST = "/bin/cat"
"""A small program that ends with its input."""
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME = 1, 2, 4, 8, 1024
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
LOCKED = MS_NOSUID | MS_NODEV | MS_NOEXEC
"""Mount options that an ordinary user's namespace cannot remove."""
MNT_DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
"""The number of the system call, for which the C library has no function."""

libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> bool:
    """Have the kernel kill this process when its parent ends, unless its user changes; return whether it agrees."""
    return libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL) == 0


def own_pid() -> int:
    """Return the id of this process as the parent of the fork server sees it, outside all process namespaces."""
    return int(os.readlink("/proc/self"))


def own_namespaces() -> None:
    """Leave the namespaces that this process shares with others, as far as the kernel permits."""
    network, *others = SHARED.values()
    if _unshare(network) or _unshare(CLONE_NEWUSER | network):
        for flag in others:
            _unshare(flag)


def go_on_alone() -> None:
    """Continue in a child of this process that is alone in a process namespace, as far as the kernel permits.

    This process waits for the child and ends in the same way. The first process of a namespace ignores signals that it
    has no handler for, so a separate program takes this role: it reads from a pipe until this process has ended, and
    the rest of the namespace ends with it.
    """
    if not os.access(FIRST, os.X_OK) or not _unshare(CLONE_NEWPID):
        return
    waits, is_open = os.pipe()
    os.posix_spawn(FIRST, [FIRST], {}, file_actions=[(os.POSIX_SPAWN_DUP2, waits, 0)])
    child = os.fork()
    if child == 0:
        die_with_parent()
        os.close(waits)
        os.close(is_open)
        return
    # A copy of a socket that stayed open here would hide that its owner has ended.
    os.closerange(0, is_open)
    os.closerange(is_open + 1, 1 << 16)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler to reset
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def own_process_namespace() -> None:
    """Put all future children of this process into a process namespace; it must have only one thread."""
    # Try it in a child first: half of it, a user without a name, would be worse than nothing. So would a namespace
    # whose first process does not die with this one, because the kernel refuses prctl: it would sleep for ever.
    if succeeds_in_child(_leave_process_namespace):
        _leave_process_namespace()
        _start_init()


def _leave_process_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    if not _unshare(CLONE_NEWPID):
        if not _unshare(CLONE_NEWUSER | CLONE_NEWPID):
            raise OSError(ctypes.get_errno(), "the kernel refuses")
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w") as map_file:
                map_file.write(text)


def _start_init() -> None:
    """Start the first process of the namespace, with which all others end.

    It does nothing, because the first process ignores signals that it has no handler for.
    """
    ready, tell = os.pipe()
    if os.fork() == 0:
        try:
            die_with_parent()
            os.close(ready)
            os.write(tell, b"1")  # fails if the parent has ended already
            # A copy of a socket that stayed open here would hide that its owner has ended.
            os.closerange(0, 1 << 16)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # its orphaned children must not stay as zombies
            signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
            while True:
                signal.pause()
        finally:
            os._exit(0)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)


def _unshare(flags: int) -> bool:
    """Leave the namespaces in `flags`; return whether the kernel permits it."""
    return libc.unshare(flags) == 0


def succeeds_in_child(act: Callable[[], None]) -> bool:
    """Return whether `act` raises no error in a child of this process that can die with it; the child then ends."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            if die_with_parent():
                act()
                os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


class Tree(NamedTuple):
    """The content of a root folder: symbolic links with their targets, and files and folders with mount options."""

    links: dict[str, str]
    mounts: dict[str, int]


@cache
def tree(readable: frozenset[str]) -> Tree:
    """Return the tree that shows files and folders at their own paths; the fork server makes it once for its children.

    Args:
        readable: their paths, which may contain symbolic links. Missing ones are ignored.
    """
    links, mounts = dict[str, str](), dict[str, int]()
    for path in sorted(readable):
        real = _followed(path, links)
        if os.path.exists(real) and not any(real.startswith(f"{folder}/") for folder in mounts):
            mounts[real] = MS_RDONLY | os.statvfs(real).f_flag & LOCKED
    return Tree(links, mounts)


def _followed(path: str, links: dict[str, str]) -> str:
    """Record the links on the way to a file or folder, and return its real path."""
    place = "/"
    for part in path.split("/")[1:]:
        place = os.path.join(place, part)
        if os.path.islink(place):
            links[place] = os.readlink(place)
            target = os.path.join(os.path.dirname(place), links[place], os.path.relpath(path, place))
            return _followed(os.path.normpath(target), links)
    return path


def enter_own_root(scratch: Path, *trees: Tree) -> bool:
    """Make the root folder and enter it; return whether the kernel permits it. If not, nothing changes.

    Args:
        scratch: the only folder that the process may write to. It becomes the working folder.
        trees: its other content.

    Raises:
        OSError: the process is between two roots, and must not run student code.
    """
    number = PIVOT_ROOT.get(os.uname().machine)
    if number is None or not _unshare(CLONE_NEWNS):
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
    if libc.umount2(b".", MNT_DETACH) != 0:  # the old root, which covers the new one
        raise OSError(ctypes.get_errno(), "the old root folder cannot be left")
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(scratch)
    return True


def _bind(root: str, path: str, options: int) -> None:
    """Mount a file or folder below the new root as well."""
    place = root + path
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT))
    _mount(path, place, None, MS_BIND)
    try:
        _mount(None, place, None, MS_REMOUNT | MS_BIND | MS_NOATIME | options)
    except PermissionError:  # an ordinary user cannot change whether reads are recorded
        _mount(None, place, None, MS_REMOUNT | MS_BIND | options)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    if libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot mount {target}: {os.strerror(number)}")
