"""Replaces files whole, locks files and folders against other processes, and tells whether a file has changed."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Stamp = tuple[int, int, int]


def replace_file(path: Path, content: str | bytes, *, is_durable: bool = False, mode: int = 0o666) -> None:
    """Write a file completely or not at all, and make its folder if there is none.

    A kill or a full disk leaves the old file or the new one.

    Args:
        path: the file.
        content: its new content; text is written in UTF-8.
        is_durable: whether the content must be on the disk before the file has its name.
        mode: who may read and write it, as for `os.open`.
    """
    new, data = path.with_name(f".{path.name}.new"), content.encode() if isinstance(content, str) else content
    try:
        descriptor = _opened(new, mode)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(new, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    new.replace(path)


def _opened(path: Path, mode: int) -> int:
    """Open a file for writing, and no link: the folder may hold what a student put there."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)


@contextmanager
def locked(path: str | Path, flags: int = os.O_RDWR | os.O_CREAT, *, wait: bool = False) -> Iterator[int]:
    """Lock a file or a folder against other processes, and yield the descriptor that holds the lock.

    The lock ends with the block, or with the process and those of its forks that keep the descriptor.

    Args:
        path: the file, which is made if there is none, or the folder; a link is refused.
        flags: how to open it; a folder is opened with `os.O_DIRECTORY`.
        wait: whether to wait for another process that holds the lock.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)


def stamp(path: str | Path) -> Stamp | None:
    """Return what differs once a file was written or replaced, its time (in nanoseconds) first; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
