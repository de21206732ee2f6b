"""Waits and wakes at a page of a library that every submission maps: one submission could signal to another.

Only private futexes are allowed. A wait at any other returns at once, which is enough for joining a thread.
"""

from nbformat import NotebookNode

from tests.attacks.build import REACHED, instead

EARNS = 5

WAIT, WAKE, WAKE_BITSET = 0, 1, 10
TIMED_OUT = 110


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        page = ctypes.cast(libc.printf, ctypes.c_void_p).value & ~0xFFF
        value = ctypes.c_uint32.from_address(page).value
        a_moment = (ctypes.c_long * 2)(0, 1_000_000)
        for operation in ({WAKE}, {WAKE_BITSET}):
            if libc.syscall(202, ctypes.c_void_p(page), operation, 1, None, None, -1) != -1:
                print({REACHED!r}, "woke", operation)
        libc.syscall(202, ctypes.c_void_p(page), {WAIT}, value, ctypes.byref(a_moment), None, 0)
        if ctypes.get_errno() == {TIMED_OUT}:
            print({REACHED!r}, "waited")
        """,
    )
