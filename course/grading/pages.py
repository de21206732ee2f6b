"""Large pages for the fork server: a fork copies the page table, and one of 2 MiB pages is 512 times shorter."""

import ctypes
from collections.abc import Iterator

LARGE = 2 * 2**20
MADV_COLLAPSE = 25  # Linux 6.1 and later


def collapse() -> None:
    """Asks the kernel to hold this process's own memory in large pages. Where it cannot, forks are only slower."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for begin, end in list(_own_memory()):
        for address in range(-(-begin // LARGE) * LARGE, end - LARGE + 1, LARGE):
            madvise(address, LARGE, MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Begin and end of each piece of memory that belongs to no file."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            bounds, rights, _, _, _, *name = line.split(maxsplit=5)
            if rights == "rw-p" and (not name or name[0].startswith("[heap]")):
                begin, end = bounds.split("-")
                yield int(begin, 16), int(end, 16)
