"""The private folder that student code may write into: made, measured while it is in use, and removed.

What lies in it was put there by a stranger: it may be thousands of folders deep, and some may be locked. Whoever uses a
folder holds the kernel's lock on it, which ends with the process: one that nobody holds was left by a run that was
killed, and the next run removes it.
"""

import fcntl
import itertools
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "course-grading-"
MAX_ENTRIES = 1_000
"""Files and folders that it may hold."""


class Scratch:
    """A new empty folder, `folder`. It lies in one of ours, so that removing it has a place to put things."""

    def __init__(self) -> None:
        _remove_left(tempfile.gettempdir())
        self._outer, self._lock = _locked_folder()
        self.folder = self._outer / "scratch"
        self.folder.mkdir()

    def is_full(self, megabytes: int) -> bool:
        """Whether it holds more than it may. Stops counting as soon as it does."""
        room, entries, folders = megabytes * 2**20, 0, [str(self.folder)]
        while folders:
            try:
                with os.scandir(folders.pop()) as found:
                    for entry in found:
                        entries += 1
                        room -= entry.stat(follow_symlinks=False).st_blocks * 512
                        if room < 0 or entries > MAX_ENTRIES:
                            return True
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
            except FileNotFoundError:
                continue  # it is gone meanwhile
            except OSError:
                return True  # locked, or its path is too long: nobody could see what lies there
        return False

    def remove(self) -> None:
        """Removes it and all in it, once nobody uses it any more."""
        _remove(self._outer)
        os.close(self._lock)


@cache
def _remove_left(parent: str) -> None:
    """Removes, once a process, the folders in `parent` that killed processes of the same user left there."""
    for outer in Path(parent).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody holds it, or it is not ours
            lock = os.open(outer, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.geteuid():
                    _remove(outer)
            finally:
                os.close(lock)


def _locked_folder() -> tuple[Path, int]:
    """A new folder and the descriptor that holds its lock."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(folder):
                return Path(folder), lock
            # Another process took it for one that was left, in the moment before it was locked.
            os.close(lock)


def _remove(outer: Path) -> None:
    # Each folder is lifted to the top before we look into it: neither recursion nor the length of paths has a say.
    # By a new name and not into a new folder, for the disk may be full.
    folders, numbers = [outer / name for name in os.listdir(outer)], itertools.count()
    while folders:
        folder = folders.pop()
        os.chmod(folder, 0o700)
        for name in os.listdir(folder):
            path = folder / name
            if path.is_dir() and not path.is_symlink():
                os.chmod(path, 0o700)
                folders.append(path.rename(outer / f"{os.getpid()}-{next(numbers)}"))
            else:
                path.unlink()
        folder.rmdir()
    outer.rmdir()
