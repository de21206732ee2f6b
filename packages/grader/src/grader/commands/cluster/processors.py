"""Finds processors for the runners of one worker, of which a machine may have many.

Two programs that grade do not know of each other's runners, and might put them on the same processor. A room holds the
kernel's lock on a file for each of its processors; the lock ends with the process.
"""

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from grader.files import locked

_held = ExitStack()


def own_processors(count: int) -> set[int]:
    """Return at most `count` processors that no other room of this user has, and keep them for this process."""
    folder = Path(tempfile.gettempdir(), f"grader-processors-{os.getuid()}")
    found: set[int] = set()
    with suppress(OSError):  # then the rooms share, as other programs do
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.lstat().st_uid != os.getuid():
            return found
        for processor in sorted(os.sched_getaffinity(0)):
            if len(found) == count:
                break
            with suppress(BlockingIOError):
                _held.enter_context(locked(folder / str(processor)))
                found.add(processor)
    return found
