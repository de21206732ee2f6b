"""Confines the current process irrevocably: Landlock for files, seccomp for system calls, rlimits for the rest.

Afterwards the process can read the Python installation, the grader and the helper packages, write to its scratch
folder, and use the sockets that it already has. It can start threads, but no process, program or connection. Behind
this first wall is a second one, as far as the kernel offers it: namespaces of its own, and no privileges.
"""

import ctypes
import os
import resource
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import py_landlock

from grader.engine.code_digest import package_paths
from grader.engine.sandbox.isolation import system_calls
from grader.engine.sandbox.isolation.namespaces import die_with_parent, enter_own_root, libc, own_namespaces, tree
from grader.errors import GraderError, SandboxUnavailable

# Not all of /usr: nbgrader's exchange, which holds all submissions, may be in /usr/local/share.
READABLE = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/fonts",
    "/usr/share/zoneinfo",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/dev/urandom",
)

Access = py_landlock.AccessFs
SCRATCH_ACCESS = (
    Access.READ_FILE | Access.READ_DIR | Access.WRITE_FILE | Access.TRUNCATE
    | Access.MAKE_REG | Access.MAKE_DIR | Access.MAKE_SYM | Access.REMOVE_DIR
)  # fmt: skip

PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
CAPABILITIES = 64
"""The size of the kernel's sets of capabilities."""
CAPABILITY_VERSION = 0x20080522
UNPRIVILEGED = 65534
"""The id of the user, and of the group, that owns no file."""


def prepare() -> None:
    """Find libraries and make rules once, before any fork: all confined processes need the same ones."""
    _address_space()
    with suppress(GraderError, OSError, RuntimeError, AttributeError):
        check()
        _common_files()
        system_calls.common_rules()
        tree(_shown_to_all())


def check() -> None:
    """Raise SandboxUnavailable if `confine` would not hold."""
    try:
        py_landlock.get_abi_version()
        system_calls.check()
    except (py_landlock.LandlockError, OSError, RuntimeError, AttributeError) as error:
        raise SandboxUnavailable(
            "student code runs only where the kernel confines it (Linux 5.13 or later with Landlock, and libseccomp): "
            f"{error}. Grade on such a machine, or add --no-sandbox if you trust every submission."
        ) from error


def confine(scratch: Path, memory_mb: int, file_mb: int, readable: tuple[Path, ...] = ()) -> None:
    """Confine the current process, which must have only one thread.

    Args:
        scratch: the only folder that the process may write to.
        memory_mb: MiB of address space beyond what the process has now.
        file_mb: MiB that one file may hold.
        readable: further files and folders that it may read.

    Raises:
        OSError, LandlockError: the kernel refuses.
    """
    _limit_resources(memory_mb, file_mb)
    own_namespaces()
    if enter_own_root(scratch, tree(_shown_to_all()), tree(frozenset(map(str, readable)))):
        gives_up_root = os.geteuid() == 0 and _reads_unprivileged()
    else:
        # In a closed folder, the unprivileged user could not name the files of its own scratch folder.
        gives_up_root = can_be_unprivileged() and all(path.stat().st_mode & 0o001 for path in scratch.parents[1:])
        if gives_up_root:
            scratch.parent.chmod(0o711)
    if gives_up_root:
        os.chown(scratch, UNPRIVILEGED, UNPRIVILEGED)
    _restrict_files(scratch, readable)
    _forbid_capabilities()
    if gives_up_root:
        _become_unprivileged()
    _drop_capabilities()
    system_calls.restrict()


def limit_memory(memory_mb: int) -> None:
    """Limit the address space of this process to `memory_mb` MiB more than the fork server has."""
    memory = _address_space() + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


@cache
def _address_space() -> int:
    """Return the size of the address space in bytes. The fork server reads it once, because its forks start with it."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _limit_resources(memory_mb: int, file_mb: int) -> None:
    limit_memory(memory_mb)
    for kind, limit in (
        (resource.RLIMIT_FSIZE, file_mb * 2**20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))


def _restrict_files(scratch: Path, readable: tuple[Path, ...]) -> None:
    rules = _common_files()
    _allow_reading(rules, map(str, readable))
    # Files cannot be removed: a removed file that is still open takes space that Scratch.is_full cannot see.
    rules.add_path_rule(str(scratch), access=SCRATCH_ACCESS)
    rules.apply()


@cache
def readable_paths() -> frozenset[str]:
    """Return the existing files and folders that every sandbox may read."""
    package = package_paths("grader")[0]
    pythons = {f"{prefix}/{part}" for prefix in (sys.prefix, sys.base_prefix) for part in ("lib", "lib64")}
    return frozenset(path for path in (*READABLE, *pythons, str(package)) if os.path.exists(path))


def _shown_to_all() -> frozenset[str]:
    return readable_paths() | {"/dev/null"}


@cache
def _common_files() -> py_landlock.Landlock:
    """Return the rules for files that all processes may use; the fork server makes them once."""
    # Not strict: an older Landlock does not cover signals to other processes and abstract sockets (before Linux 6.12),
    # connections (6.7) and device commands (6.10). seccomp refuses them too.
    rules = py_landlock.Landlock(strict=False)
    _allow_reading(rules, readable_paths())
    rules.add_path_rule("/dev/null", access=Access.READ_FILE | Access.WRITE_FILE)
    return rules


def _allow_reading(rules: py_landlock.Landlock, paths: Iterable[str]) -> None:
    """Allow reading those of `paths` that exist."""
    existing = sorted(path for path in paths if os.path.exists(path))
    # Landlock accepts the right to list for folders only.
    rules.allow_read(*(path for path in existing if os.path.isdir(path)))
    rules.add_path_rule(*(path for path in existing if not os.path.isdir(path)), access=Access.READ_FILE)


def _become_unprivileged() -> None:
    """Turn this process from root's into the unprivileged user's."""
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    die_with_parent()


def _forbid_capabilities() -> None:
    """Give up the right to regain capabilities. This needs a capability itself, so call it before the others."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def _drop_capabilities() -> None:
    """Drop every capability; raise OSError if the kernel refuses."""
    header, nothing = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities of the student's process cannot be dropped")


@cache
def can_be_unprivileged() -> bool:
    """Return whether this process is root's and the unprivileged user can read everything in `readable_paths`.

    Without read access, for instance to a Python installation in root's home, student code could import nothing.
    """
    return os.geteuid() == 0 and _reads_unprivileged()


def _reads_unprivileged() -> bool:
    """Return whether the unprivileged user can read everything in `readable_paths`; only root can call this."""
    paths, groups = readable_paths(), os.getgroups()
    os.setgroups([])
    os.setegid(UNPRIVILEGED)
    os.seteuid(UNPRIVILEGED)
    try:
        for path in paths:
            os.close(os.open(path, os.O_RDONLY))
            if os.path.isdir(path):
                os.stat(os.path.join(path, "."))  # fails if its files cannot be accessed
        return True
    except OSError:
        return False
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
