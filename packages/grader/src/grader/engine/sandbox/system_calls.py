"""Lists the system calls that student code may use, and has the kernel refuse all others (seccomp).

The list names what Python and torch need while they run: new kernels add calls, which a list of forbidden ones would
miss. A call that asks about other processes or about the whole machine is left out or allowed for the process itself
only, because one submission could hear another through it.
"""

import errno
import fcntl
import mmap
import os
import termios
from functools import cache

from grader.engine.sandbox import seccomp

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
"""Bits that no clock of the system has. The clocks of other processes have them, and tell how busy these are."""

CLONE_THREAD = 0x00010000
PR_SET_NAME = 15
FUTEX_PRIVATE = 128
MEMORY_ADVICE = (mmap.MADV_DONTNEED, mmap.MADV_FREE, mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE)
"""The advice that allocators give. Other advice evicts, poisons or merges pages that processes share."""

# No command that sets the owner or the signal of a descriptor: the kernel would send that signal to any process of the
# same user. No locks: a process that may read a file may lock its bytes, and another student's process would see which.
FCNTL_COMMANDS = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL)
IOCTL_COMMANDS = (termios.TCGETS, termios.TIOCGWINSZ, termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX)
# Files without a name would escape the count of what the scratch folder holds.
NAMELESS = os.O_TMPFILE & ~os.O_DIRECTORY
# O_TRUNC only together with writing: before Linux 6.2, Landlock lets a process truncate every file that it may read.
OPEN_MODES = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)


def check() -> None:
    """Raise OSError or AttributeError if the kernel or this machine has no seccomp."""
    seccomp.SyscallFilter(seccomp.ALLOW)


def restrict() -> None:
    """Have the kernel refuse to this process all system calls but the listed ones."""
    rules = common_rules()
    # A process may signal itself, as abort does, and ask about itself: no other process.
    for name in ("kill", "tgkill", *OWN_PROCESS_CALLS):
        _allow(rules, name, seccomp.Arg(0, seccomp.EQ, os.getpid()))
    rules.load()


@cache
def common_rules() -> seccomp.SyscallFilter:
    """Return the rules that all processes share; the fork server makes them once."""
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in SYSTEM_CALLS:
        _allow(rules, name)
    for name in OWN_PROCESS_CALLS:
        _allow(rules, name, seccomp.Arg(0, seccomp.EQ, 0))
    for name in CLOCK_CALLS:
        _allow(rules, name, seccomp.Arg(0, seccomp.MASKED_EQ, CLOCKS, 0))
    for advice in MEMORY_ADVICE:
        _allow(rules, "madvise", seccomp.Arg(2, seccomp.EQ, advice))
    # Two processes that map the same library could wait for and wake each other at one of its pages. Only pthread_join
    # needs a futex that is not private: told to try again, it does so until the thread has ended.
    _allow(rules, "futex", seccomp.Arg(1, seccomp.MASKED_EQ, FUTEX_PRIVATE, FUTEX_PRIVATE))
    rules.add_rule(seccomp.ERRNO(errno.EAGAIN), "futex", seccomp.Arg(1, seccomp.MASKED_EQ, FUTEX_PRIVATE, 0))
    # Threads, but no processes. glibc tries clone3 first and falls back to clone only if there is no clone3.
    _allow(rules, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, CLONE_THREAD))
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    _allow(rules, "prctl", seccomp.Arg(0, seccomp.EQ, PR_SET_NAME))  # torch names its threads
    # A process may read its limits but not set them: root could raise them.
    _allow(rules, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0), seccomp.Arg(2, seccomp.EQ, 0))
    for command in FCNTL_COMMANDS:
        _allow(rules, "fcntl", seccomp.Arg(1, seccomp.EQ, command))
    for command in IOCTL_COMMANDS:
        _allow(rules, "ioctl", seccomp.Arg(1, seccomp.EQ, command))
    for mode in OPEN_MODES:
        for name, place in (("open", 1), ("openat", 2)):
            _allow(rules, name, seccomp.Arg(place, seccomp.MASKED_EQ, os.O_ACCMODE | os.O_TRUNC | NAMELESS, mode))
    return rules


def _allow(rules: seccomp.SyscallFilter, name: str, *where: seccomp.Arg) -> None:
    try:
        rules.add_rule(seccomp.ALLOW, name, *where)
    except OSError:
        # Some of these calls (open, stat, time …) exist only on one architecture; elsewhere there is nothing to allow.
        return
