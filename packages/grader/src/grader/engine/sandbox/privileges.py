"""Drops the special rights of the student's process: capabilities, and being root."""

import ctypes
import os
from collections.abc import Iterable
from functools import cache

from grader.engine.sandbox.namespaces import die_with_parent, libc

PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
CAPABILITIES = 64
"""The size of the kernel's sets of capabilities."""
CAPABILITY_VERSION = 0x20080522
UNPRIVILEGED = 65534
"""The id of the user, and of the group, that owns no file."""


def become_unprivileged() -> None:
    """Turn this process from root's into the unprivileged user's."""
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    die_with_parent()


def forbid_capabilities() -> None:
    """Give up the right to regain capabilities. This needs a capability itself, so call it before the others."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def drop_capabilities() -> None:
    """Drop every capability; raise OSError if the kernel refuses."""
    header, nothing = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities of the student's process cannot be dropped")


@cache
def can_be_unprivileged(folders: frozenset[str]) -> bool:
    """Return whether this process is root's and the unprivileged user can read everything in `folders`.

    Without read access, for instance to a Python installation in root's home, student code could import nothing.
    """
    return os.geteuid() == 0 and reads_unprivileged(folders)


def reads_unprivileged(folders: Iterable[str]) -> bool:
    """Return whether the unprivileged user can read everything in `folders`; only root can call this."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(UNPRIVILEGED)
    os.seteuid(UNPRIVILEGED)
    try:
        for folder in folders:
            os.close(os.open(folder, os.O_RDONLY))
            if os.path.isdir(folder):
                os.stat(os.path.join(folder, "."))  # fails if its files cannot be accessed
        return True
    except OSError:
        return False
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
