"""Asks what the machine and its other processes do, which a second submission could change for the first to see.

Calls about the whole machine are refused, and calls about a process are allowed for the caller's own only.
"""

from nbformat import NotebookNode

from tests.attacks.build import REACHED, calling, instead, trying

EARNS = 5

ROOM = b"\0" * 4096
ADVICE = {"sequential": 2, "will need": 3, "remove": 9, "mergeable": 12, "cold": 20, "page out": 21, "hwpoison": 100}


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        calling(
            ("sysinfo", ROOM),
            ("statfs", b".", ROOM),
            ("fstatfs", 3, ROOM),
            ("getpgid", 1),
            ("getsid", 1),
            ("sched_getaffinity", 1, 128, ROOM),
            ("sched_getscheduler", 1),
            ("sched_getparam", 1, ROOM),
            ("clock_gettime", ~1 << 3 | 2, ROOM),
            ("clock_getres", ~1 << 3 | 2, ROOM),
            (274, 1, ROOM, ROOM),
            (449, ROOM, 1, 0, 0, 1),
        )
        + f"""
import mmap
with open(ctypes.__file__, "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
import torch
address = torch.frombuffer(pages, dtype=torch.uint8).data_ptr()
seen = ctypes.create_string_buffer(64)
if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(len(pages)), seen) == 0:
    print({REACHED!r}, "mincore")
for name, advice in {ADVICE!r}.items():
    if libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(4096), advice) == 0:
        print({REACHED!r}, "advice", name)
"""
        + trying(
            "os.statvfs('.')", "open('/sys/devices/system/cpu/cpu0/cpuidle/state0/usage').read()", setup="import os"
        ),
    )
