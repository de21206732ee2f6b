"""Has the kernel refuse system calls, with libseccomp 2.

    SyscallFilter(what becomes of all calls) --add_rule--> exceptions --load--> the kernel, for good

Only what system_calls.py needs is here. The functions and numbers are those of seccomp.h.
"""

import ctypes
import os
from typing import NamedTuple

ALLOW = 0x7FFF0000
EQ, MASKED_EQ = 4, 7

try:
    _library = ctypes.CDLL("libseccomp.so.2")
except OSError:  # check() says so
    _library = None  # type: ignore[assignment]
else:
    _library.seccomp_init.argtypes, _library.seccomp_init.restype = [ctypes.c_uint32], ctypes.c_void_p
    _library.seccomp_load.argtypes = [ctypes.c_void_p]


def ERRNO(number: int) -> int:  # noqa: N802
    """Return the action that makes a call fail with this error."""
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
    """Rules for the system calls of a process. It is never released, because all children of a fork use it.

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
        """Have the kernel keep the rules for the rest of this process; raise OSError if it does not."""
        _require(_library.seccomp_load(self._context))


def _require(status: int) -> None:
    if status < 0:
        raise OSError(-status, os.strerror(-status))
