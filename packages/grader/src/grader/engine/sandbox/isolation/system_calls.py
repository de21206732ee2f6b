"""Lists the system calls that student code may use, and has the kernel refuse all others, with libseccomp 2.

The list names what Python and torch need while they run: new kernels add calls, which a list of forbidden ones would
miss. A call that asks about other processes or about the whole machine is left out or allowed for the process itself
only, because it would let one submission observe another.

    SyscallFilter(action for all calls) --add_rule--> exceptions --load--> the kernel, for good

The functions and numbers of the filter are those of seccomp.h.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import termios
from functools import cache
from typing import NamedTuple

SYSTEM_CALLS = """
    read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3
    pipe pipe2 poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
    recvfrom sendto shutdown getsockopt
    creat stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat
    getcwd chdir fchdir getdents64 mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 ftruncate
    fsync fdatasync umask copy_file_range sendfile
    mmap munmap mremap mprotect msync mlock munlock brk membarrier get_mempolicy
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend sigaltstack restart_syscall alarm setitimer
    getitimer pause set_robust_list rseq arch_prctl sched_yield getcpu
    getpid getppid gettid getuid geteuid getgid getegid getgroups getpgrp uname getrusage times
    getrlimit nanosleep gettimeofday time getrandom exit exit_group wait4
""".split()

OWN_PROCESS_CALLS = ("getpgid", "getsid", "sched_getaffinity", "sched_getparam", "sched_getscheduler")
"""Calls whose first argument is a process: 0 for the caller, or its number."""
CLOCK_CALLS = ("clock_gettime", "clock_getres", "clock_nanosleep")
CLOCKS = ~0xF & 0xFFFFFFFF
"""Bits that no system clock has. The clocks of other processes have them, and show how busy these are."""

CLONE_THREAD = 0x00010000
PR_SET_NAME = 15
FUTEX_PRIVATE = 128
MEMORY_ADVICE = (mmap.MADV_DONTNEED, mmap.MADV_FREE, mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE)
"""Advice that allocators give. All other advice evicts, poisons or merges pages that processes share."""

# Without commands that set the owner or the signal of a descriptor: the kernel would send that signal to any process of
# the same user. Without locks: a process may lock bytes of any file that it can read, where another process sees them.
FCNTL_COMMANDS = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL)
IOCTL_COMMANDS = (termios.TCGETS, termios.TIOCGWINSZ, termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX)
# Files without a name would not count towards the size of the scratch folder.
NAMELESS = os.O_TMPFILE & ~os.O_DIRECTORY
# O_TRUNC only together with writing: before Linux 6.2, Landlock lets a process truncate every file that it may read.
OPEN_MODES = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)

ALLOW = 0x7FFF0000
EQ, MASKED_EQ = 4, 7

try:
    _library = ctypes.CDLL("libseccomp.so.2")
except OSError:  # check() reports it
    _library = None  # type: ignore[assignment]
else:
    _library.seccomp_init.argtypes, _library.seccomp_init.restype = [ctypes.c_uint32], ctypes.c_void_p
    _library.seccomp_load.argtypes = [ctypes.c_void_p]


def ERRNO(number: int) -> int:  # noqa: N802
    """Return the action that fails a call with this error."""
    return 0x00050000 | number


class Arg(NamedTuple):
    """A condition on an argument of a call: it is `first` (EQ), or its bits `first` are `second` (MASKED_EQ).

    Args:
        number: of the argument, from 0.
        comparison: EQ or MASKED_EQ.
    """

    number: int
    comparison: int
    first: int
    second: int = 0


class _Comparison(ctypes.Structure):
    _fields_ = [
        ("arg", ctypes.c_uint), ("op", ctypes.c_int), ("datum_a", ctypes.c_uint64), ("datum_b", ctypes.c_uint64)
    ]  # fmt: skip


class SyscallFilter:
    """Rules for the system calls of a process. They are never released, because all forks use them.

    Args:
        default: the action for calls to which no rule applies.

    Raises:
        OSError: libseccomp is missing, or refuses.
    """

    def __init__(self, default: int) -> None:
        if _library is None:
            raise OSError("libseccomp is missing")
        self._context = _library.seccomp_init(default)
        if not self._context:
            raise OSError("libseccomp makes no filter")

    def add_rule(self, action: int, name: str, *where: Arg) -> None:
        """Add an exception: `action` for a call whose arguments meet all conditions.

        Raises:
            OSError: there is no such call, or the rule is refused.
        """
        number = _library.seccomp_syscall_resolve_name(name.encode())
        comparisons = (_Comparison * len(where))(*(_Comparison(*each) for each in where))
        _require(
            _library.seccomp_rule_add_array(
                ctypes.c_void_p(self._context), ctypes.c_uint32(action), number, len(where), comparisons
            )
        )

    def load(self) -> None:
        """Have the kernel enforce the rules for the rest of this process; raise OSError if it refuses."""
        _require(_library.seccomp_load(self._context))


def _require(status: int) -> None:
    if status < 0:
        raise OSError(-status, os.strerror(-status))


def check() -> None:
    """Raise OSError or AttributeError if the kernel or this machine has no"""
    SyscallFilter(ALLOW)


def restrict() -> None:
    """Have the kernel refuse all system calls of this process except the listed ones."""
    rules = common_rules()
    # A process may signal itself, as abort does, and ask about itself, but not about others.
    for name in ("kill", "tgkill", *OWN_PROCESS_CALLS):
        _allow(rules, name, Arg(0, EQ, os.getpid()))
    rules.load()


@cache
def common_rules() -> SyscallFilter:
    """Return the rules that all processes share; the fork server makes them once."""
    rules = SyscallFilter(ERRNO(errno.EPERM))
    for name in SYSTEM_CALLS:
        _allow(rules, name)
    for name in OWN_PROCESS_CALLS:
        _allow(rules, name, Arg(0, EQ, 0))
    for name in CLOCK_CALLS:
        _allow(rules, name, Arg(0, MASKED_EQ, CLOCKS, 0))
    for advice in MEMORY_ADVICE:
        _allow(rules, "madvise", Arg(2, EQ, advice))
    # Two processes that map the same library could wait for and wake each other at one of its pages. Only pthread_join
    # needs a futex that is not private: on EAGAIN it tries again until the thread has ended.
    _allow(rules, "futex", Arg(1, MASKED_EQ, FUTEX_PRIVATE, FUTEX_PRIVATE))
    rules.add_rule(ERRNO(errno.EAGAIN), "futex", Arg(1, MASKED_EQ, FUTEX_PRIVATE, 0))
    # Threads, but no processes. glibc tries clone3 first and falls back to clone only if there is no clone3.
    _allow(rules, "clone", Arg(0, MASKED_EQ, CLONE_THREAD, CLONE_THREAD))
    rules.add_rule(ERRNO(errno.ENOSYS), "clone3")
    _allow(rules, "prctl", Arg(0, EQ, PR_SET_NAME))  # torch names its threads
    # A process may read but not set its limits: root could raise them.
    _allow(rules, "prlimit64", Arg(0, EQ, 0), Arg(2, EQ, 0))
    for command in FCNTL_COMMANDS:
        _allow(rules, "fcntl", Arg(1, EQ, command))
    for command in IOCTL_COMMANDS:
        _allow(rules, "ioctl", Arg(1, EQ, command))
    for mode in OPEN_MODES:
        for name, place in (("open", 1), ("openat", 2)):
            _allow(rules, name, Arg(place, MASKED_EQ, os.O_ACCMODE | os.O_TRUNC | NAMELESS, mode))
    return rules


def _allow(rules: SyscallFilter, name: str, *where: Arg) -> None:
    try:
        rules.add_rule(ALLOW, name, *where)
    except OSError:
        # Some of these calls (open, stat, time …) exist only on one architecture; elsewhere there is nothing to allow.
        return
