"""Replaces files whole, so that a kill or a full disk leaves the old file or the new one."""

import os
from pathlib import Path


def replace_file(path: Path, content: str | bytes, *, is_durable: bool = False) -> None:
    """Write a file completely or not at all, and make its folder if there is none.

    Args:
        path: the file.
        content: its new content; text is written in UTF-8.
        is_durable: whether the content must be on the disk before the file has its name.
    """
    new, data = path.with_name(f".{path.name}.new"), content.encode() if isinstance(content, str) else content
    try:
        descriptor = _opened(new)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(new)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    new.replace(path)


def _opened(path: Path) -> int:
    """Open a file for writing, and no link: the folder may hold what a student put there."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
