"""Takes from the student's process what it could do beyond any other user: capabilities, and being root."""

import ctypes
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from grader.sandbox.namespaces import die_with_parent, libc, succeeds_in_child

PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
CAPABILITIES = 64
"""As many as the kernel's sets have room for."""
CAPABILITY_VERSION = 0x20080522
UNPRIVILEGED = 65534
"""The number of the user, and of the group, to whom no file belongs."""


def hand_over(scratch: Path) -> None:
    """Give the scratch folder to the unprivileged user, who must also be able to pass the folder that contains it."""
    os.chown(scratch, UNPRIVILEGED, UNPRIVILEGED)
    scratch.parent.chmod(0o711)


def become_unprivileged() -> None:
    """Turn this process of root into one of the unprivileged user."""
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    die_with_parent()


def forbid_capabilities() -> None:
    """Give up the right to get a capability again, which needs one: call this before the others."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability; raise OSError if the kernel keeps one."""
    header, nothing = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities of the student's process cannot be dropped")


@cache
def can_be_unprivileged(folders: frozenset[str]) -> bool:
    """Return whether this process is root's and the unprivileged user can read everything in `folders`.

    A Python installation in root's home, for instance, is closed to others, and student code could import nothing.
    """
    if os.geteuid() != 0:
        return False
    return succeeds_in_child(lambda: _read_unprivileged(folders))


def _read_unprivileged(folders: Iterable[str]) -> None:
    become_unprivileged()
    for folder in folders:
        if os.path.isdir(folder):
            os.listdir(folder)
        else:
            os.close(os.open(folder, os.O_RDONLY))
