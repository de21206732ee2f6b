"""Confines the current process for good: Landlock for files, seccomp for system calls, rlimits for the rest.

Afterwards the process can read the Python installation, the grader and the helper packages, write its scratch folder,
and use the sockets that it already has. It can start threads, but no process, no program and no connection.
"""

import errno
import fcntl
import os
import resource
import sys
import termios
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import py_landlock

from grader.engine import package_paths
from grader.errors import GraderError, SandboxUnavailable

try:
    import pyseccomp
except RuntimeError:  # libseccomp is missing, and check() says so
    pyseccomp = None

CLONE_THREAD = 0x00010000
PR_SET_NAME = 15

# No command that sets the owner or the signal of a descriptor: the kernel would send that signal to any process of the
# same user. No locks: a process that may read a file may lock its bytes, and another student's process would see which.
FCNTL_COMMANDS = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL)
IOCTL_COMMANDS = (termios.TCGETS, termios.TIOCGWINSZ, termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX)
# Files without a name would escape the count of what the scratch folder holds.
NAMELESS = os.O_TMPFILE & ~os.O_DIRECTORY
# O_TRUNC only together with writing: before Linux 6.2, Landlock lets a process truncate every file that it may read.
OPEN_MODES = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)

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
    "/sys/devices/system/cpu",
    "/dev/urandom",
)

Access = py_landlock.AccessFs
SCRATCH_ACCESS = (
    Access.READ_FILE | Access.READ_DIR | Access.WRITE_FILE | Access.TRUNCATE
    | Access.MAKE_REG | Access.MAKE_DIR | Access.MAKE_SYM | Access.REMOVE_DIR
)  # fmt: skip

# The calls that Python and torch need while they run; all others fail with EPERM. New kernels add calls, which a list
# of forbidden ones would miss.
SYSTEM_CALLS = """
    read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3
    pipe pipe2 poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
    recvfrom sendto shutdown getsockopt
    creat stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
    getcwd chdir fchdir getdents64 mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 ftruncate
    fsync fdatasync umask copy_file_range sendfile
    mmap munmap mremap mprotect madvise msync mincore mlock munlock brk membarrier get_mempolicy
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend sigaltstack restart_syscall alarm setitimer
    getitimer pause futex futex_waitv set_robust_list get_robust_list rseq set_tid_address arch_prctl
    sched_yield sched_getaffinity sched_getparam sched_getscheduler getcpu
    getpid getppid gettid getuid geteuid getgid getegid getgroups getpgrp getpgid getsid uname sysinfo getrusage times
    getrlimit clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrandom exit exit_group wait4
""".split()


def prepare() -> None:
    """Find libraries and make rules once, before any fork, because all confined processes need the same ones."""
    _address_space()
    with suppress(GraderError, OSError, RuntimeError, AttributeError):
        check()
        _common_files()
        _common_rules()


def check() -> None:
    """Raise SandboxUnavailable if `confine` would not hold."""
    try:
        py_landlock.get_abi_version()
        if pyseccomp is None:
            raise OSError("libseccomp is missing")
        pyseccomp.SyscallFilter(pyseccomp.ALLOW)
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
        readable: files and folders that it may read besides the Python installation and the grader.

    Raises:
        OSError, LandlockError: the kernel refuses.
    """
    _limit_resources(memory_mb, file_mb)
    _restrict_files(scratch, readable)
    _restrict_system_calls()


def limit_memory(memory_mb: int) -> None:
    """Limit the address space of this process to `memory_mb` MiB more than the fork server has."""
    memory = _address_space() + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


@cache
def _address_space() -> int:
    """Its size in bytes. A fork starts with the same, so the fork server reads it once for all its children."""
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
    # Files cannot be removed: one that is removed but still open takes room that Scratch.is_full cannot see.
    rules.add_path_rule(str(scratch), access=SCRATCH_ACCESS)
    rules.apply()


@cache
def _common_files() -> py_landlock.Landlock:
    """The rules for the files that all processes may use; the fork server makes them once."""
    package = package_paths("grader")[0]
    pythons = {f"{prefix}/{part}" for prefix in (sys.prefix, sys.base_prefix) for part in ("lib", "lib64")}
    readable = {*READABLE, *pythons, str(package)}
    rules = py_landlock.Landlock(strict=False)
    _allow_reading(rules, readable)
    rules.add_path_rule("/dev/null", access=Access.READ_FILE | Access.WRITE_FILE)
    return rules


def _allow_reading(rules: py_landlock.Landlock, paths: Iterable[str]) -> None:
    """Allow reading the folders and files in `paths`, as far as they exist."""
    existing = sorted(path for path in paths if os.path.exists(path))
    # Landlock accepts the right to list a folder for folders only.
    rules.allow_read(*(path for path in existing if os.path.isdir(path)))
    rules.add_path_rule(*(path for path in existing if not os.path.isdir(path)), access=Access.READ_FILE)


def _restrict_system_calls() -> None:
    rules = _common_rules()
    # A process may signal itself, as abort does, and no other process.
    for name in ("kill", "tgkill"):
        _allow(rules, name, pyseccomp.Arg(0, pyseccomp.EQ, os.getpid()))
    rules.load()


@cache
def _common_rules() -> "pyseccomp.SyscallFilter":
    """The rules for system calls that all processes share; the fork server makes them once."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in SYSTEM_CALLS:
        _allow(rules, name)
    # Threads, but no processes. glibc tries clone3 first and falls back to clone only if there is no clone3.
    _allow(rules, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, CLONE_THREAD))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    _allow(rules, "prctl", pyseccomp.Arg(0, pyseccomp.EQ, PR_SET_NAME))  # torch names its threads
    # A process may read its limits but not set them: root could raise them.
    _allow(rules, "prlimit64", pyseccomp.Arg(0, pyseccomp.EQ, 0), pyseccomp.Arg(2, pyseccomp.EQ, 0))
    for command in FCNTL_COMMANDS:
        _allow(rules, "fcntl", pyseccomp.Arg(1, pyseccomp.EQ, command))
    for command in IOCTL_COMMANDS:
        _allow(rules, "ioctl", pyseccomp.Arg(1, pyseccomp.EQ, command))
    for mode in OPEN_MODES:
        for name, place in (("open", 1), ("openat", 2)):
            _allow(rules, name, pyseccomp.Arg(place, pyseccomp.MASKED_EQ, os.O_ACCMODE | os.O_TRUNC | NAMELESS, mode))
    return rules


def _allow(rules: "pyseccomp.SyscallFilter", name: str, *where: "pyseccomp.Arg") -> None:
    try:
        rules.add_rule(pyseccomp.ALLOW, name, *where)
    except (OSError, ValueError):
        # Some of these calls (open, stat, time …) exist only on one architecture; elsewhere there is nothing to allow.
        return
