"""Files of a submission, read with care: what lies there was put there by a stranger.

A link leads to somebody else's work, a pipe never ends, and a file without content may be as long as it likes.
"""

import os
import stat
from pathlib import Path

from course.errors import CourseError


class Unreadable(CourseError):
    """A file that is no notebook or cannot be read; the message says `why` and what to do."""

    def __init__(self, why: str, to_do: str = "ask the student for it again") -> None:
        super().__init__(f"{why}: {to_do}")
        self.why = why


def is_there(path: Path) -> bool:
    """Whether something has this name; raises OSError where nobody may look, and then nothing is known of it."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def contents(path: Path, max_mb: int) -> bytes:
    """What is in a file of a submission; raises Unreadable where it is none of its own, or over `max_mb` mebibytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read ({error.strerror})") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path.name} is no file")
        if status.st_size > max_mb * 2**20:
            size = status.st_size / 2**20
            raise Unreadable(f"{path.name} has {size:.0f} MB, and {max_mb} MB are read", "ask for it without outputs")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_mb * 2**20)
    finally:
        os.close(descriptor)
