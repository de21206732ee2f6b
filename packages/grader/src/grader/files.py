"""Replaces files atomically, locks files and folders against other processes, and detects changed files."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Stamp = tuple[int, int, int]


def replace_file(path: Path, content: str | bytes, *, is_durable: bool = False, mode: int = 0o666) -> None:
    """Write a file completely or not at all, and create its folder if needed.

    After a kill or on a full disk, either the old or the new file is there.

    Args:
        path: the file.
        content: its new content; text is written in UTF-8.
        is_durable: whether to sync the content to the disk before the rename.
        mode: the permissions, as for `os.open`.
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
    """Open a file for writing, but not a link, which a student may have put there."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)


@contextmanager
def locked(path: str | Path, flags: int = os.O_RDWR | os.O_CREAT, *, wait: bool = False) -> Iterator[int]:
    """Lock a file or a folder against other processes, and yield the descriptor that holds the lock.

    The lock ends with the block, or with the process and those of its forks that keep the descriptor.

    Args:
        path: the file, which is created if missing, or the folder; a link is refused.
        flags: the flags to open it with, `os.O_DIRECTORY` for a folder.
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
    """Return time (in nanoseconds), size and inode of a file, which change when it is written; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
