"""Locks the current process in: Landlock for files, seccomp for system calls, rlimits for the rest. No way back.

Afterwards the process reads the Python installation and this package, writes its scratch folder, talks over the sockets
it already has, and can start threads but no process, no program and no connection.
"""

import errno
import fcntl
import os
import resource
import sys
import termios
from contextlib import suppress
from functools import cache
from pathlib import Path

import py_landlock

from course.errors import CourseError
from course.grading.report import Report, Verdict

try:
    import pyseccomp
except RuntimeError:  # there is no libseccomp; check() says so
    pyseccomp = None

CLONE_THREAD = 0x00010000
PR_SET_NAME = 15

# Neither the owner nor the signal of a descriptor: the kernel would send that signal to any process of the same user.
# No locks: who may read a file may lock its bytes, and another student's process would see which.
FCNTL_COMMANDS = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL)
IOCTL_COMMANDS = (termios.TCGETS, termios.TIOCGWINSZ, termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX)
# Files without a name: nobody could count them.
NAMELESS = os.O_TMPFILE & ~os.O_DIRECTORY
# Before Linux 6.2 Landlock lets a file that may be read be emptied.
OPEN_MODES = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)

# Not all of /usr: nbgrader's exchange, with what everybody handed in, may lie in /usr/local/share.
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

# What Python and torch need once they run; everything else answers EPERM. An allowlist, because kernels grow new calls.
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


class Unconfinable(CourseError):
    """This kernel cannot lock a process in; the message says what is missing and what to do."""


def prepare() -> None:
    """Does once, before any fork, what every confined process would do again: find libraries, make the rules."""
    _address_space()
    with suppress(CourseError, OSError, RuntimeError, AttributeError):
        check()
        _common_files()
        _common_rules()


def check() -> None:
    """Raises Unconfinable where `confine` would not hold."""
    try:
        py_landlock.get_abi_version()
        if pyseccomp is None:
            raise OSError("libseccomp is missing")
        pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    except (py_landlock.LandlockError, OSError, RuntimeError, AttributeError) as error:
        raise Unconfinable(
            "student code runs only where the kernel confines it (Linux 5.13 or later with Landlock, and libseccomp): "
            f"{error}. Grade on such a machine, or add --no-sandbox if you trust every submission."
        ) from error


def require_confined(report: Report) -> None:
    """Raises Unconfinable where student code could not be locked in: that is nobody's mark, and no zero of theirs."""
    for result in report.results:
        if result.verdict is Verdict.NOT_CONFINED:
            raise Unconfinable(result.message)


def confine(scratch: Path, memory_mb: int, file_mb: int) -> None:
    """Locks the current process, which must have one thread, into `scratch`; for the numbers see Limits."""
    _limit_resources(memory_mb, file_mb)
    _restrict_files(scratch)
    _restrict_system_calls()


def limit_memory(memory_mb: int) -> None:
    """From now on this process gets so much address space more than it started with, in MiB."""
    memory = _address_space() + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


@cache
def _address_space() -> int:
    """What this process has of it, in bytes. A fork has as much: the fork server looks once for all its children."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _limit_resources(memory_mb: int, file_mb: int) -> None:
    limit_memory(memory_mb)
    for kind, limit in (
        (resource.RLIMIT_FSIZE, file_mb * 2**20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))


def _restrict_files(scratch: Path) -> None:
    rules = _common_files()
    # A file that nobody sees any more, but somebody holds, takes room that is_full cannot see: none can be removed.
    rules.add_path_rule(str(scratch), access=SCRATCH_ACCESS)
    rules.apply()


@cache
def _common_files() -> py_landlock.Landlock:
    """The files that every process may use: the fork server finds them once."""
    package = Path(__file__).resolve().parents[1]
    pythons = {f"{prefix}/{part}" for prefix in (sys.prefix, sys.base_prefix) for part in ("lib", "lib64")}
    readable = {*READABLE, *pythons, str(package)}
    rules = py_landlock.Landlock(strict=False)
    # Landlock takes rights over directory entries for directories only.
    rules.allow_read(*(path for path in sorted(readable) if os.path.isdir(path)))
    files = [path for path in sorted(readable) if os.path.exists(path) and not os.path.isdir(path)]
    rules.add_path_rule(*files, access=Access.READ_FILE)
    rules.add_path_rule("/dev/null", access=Access.READ_FILE | Access.WRITE_FILE)
    return rules


def _restrict_system_calls() -> None:
    rules = _common_rules()
    # A process may signal itself (abort does) and nobody else.
    for name in ("kill", "tgkill"):
        _allow(rules, name, pyseccomp.Arg(0, pyseccomp.EQ, os.getpid()))
    rules.load()


@cache
def _common_rules() -> "pyseccomp.SyscallFilter":
    """The rules that are the same for every process: the fork server makes them once."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in SYSTEM_CALLS:
        _allow(rules, name)
    # Threads, but no processes. glibc tries clone3 first and falls back to clone only if there is no clone3.
    _allow(rules, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, CLONE_THREAD))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    _allow(rules, "prctl", pyseccomp.Arg(0, pyseccomp.EQ, PR_SET_NAME))  # torch names its threads
    # It may ask for its limits; to set them is to lift them, where the user is root.
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
        # Some of these calls exist on one processor only (open, stat, time …); elsewhere there is nothing to allow.
        return
