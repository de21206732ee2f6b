"""Separates student code from what the processes of a machine share: a second wall, where the kernel offers it.

    fork server -- own_process_namespace --> all its later children see no process but each other
    sandbox     -- go_on_alone           --> it sees no process but itself
                -- own_namespaces        --> an empty network, no shared memory of others, its own host name
                -- enter_own_root        --> no file but those that it may read (own_root.py)

A kernel or a container may refuse any of this, which is no error: the first wall (confinement.py) holds without it.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
SHARED = {"network": 0x40000000, "IPC": 0x08000000, "host name": 0x04000000, "cgroup": 0x02000000}
"""What a sandbox gets for itself, with the flag of the system call unshare."""
PR_SET_PDEATHSIG = 1
FIRST = "/bin/cat"
"""A small program that ends when its input does."""

libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends. A change of the user cancels that."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def own_pid() -> int:
    """Return the number of this process as the parent of the fork server sees it, outside all process namespaces."""
    return int(os.readlink("/proc/self"))


def own_namespaces() -> None:
    """Leave the namespaces that this process shares with others, as far as the kernel permits."""
    network, *others = SHARED.values()
    if unshare(network) or unshare(CLONE_NEWUSER | network):
        for flag in others:
            unshare(flag)


def go_on_alone() -> None:
    """Go on in a child of this process that is alone in a process namespace, as far as the kernel permits.

    This process waits for the child, and ends as it ends. The first process of a namespace ignores signals for which it
    has no handler, so that is another one: it reads from a pipe until this process has ended, and all others of the
    namespace end with it.
    """
    if not os.access(FIRST, os.X_OK) or not unshare(CLONE_NEWPID):
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
    """Put all processes that this one starts from now on into a process namespace; it must have only one thread."""
    # First in a child: half of it, a user without a name, would be worse than nothing.
    if succeeds_in_child(_leave_process_namespace):
        _leave_process_namespace()
        _start_init()


def _leave_process_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    if not unshare(CLONE_NEWPID):
        if not unshare(CLONE_NEWUSER | CLONE_NEWPID):
            raise OSError(ctypes.get_errno(), "the kernel refuses")
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w") as map_file:
                map_file.write(text)


def _start_init() -> None:
    """Start the first process of the namespace, with which all others end. It does nothing.

    A process that did something could not be the first, because that one ignores signals for which it has no handler.
    """
    ready, tell = os.pipe()
    if os.fork() == 0:
        try:
            die_with_parent()
            os.close(ready)
            os.write(tell, b"1")  # fails if the parent has ended already
            # A copy of a socket that stayed open here would hide that its owner has ended.
            os.closerange(0, 1 << 16)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans become its children, and must not stay as zombies
            signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
            while True:
                signal.pause()
        finally:
            os._exit(0)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)


def unshare(flags: int) -> bool:
    """Leave the namespaces that `flags` names; return whether the kernel permits it."""
    return libc.unshare(flags) == 0


def succeeds_in_child(act: Callable[[], None]) -> bool:
    """Return whether a child of this process, which ends afterwards, can do something without an error."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            die_with_parent()
            act()
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0
