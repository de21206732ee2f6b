"""The private folder that student code may write into: made, measured while it is in use, and removed.

What lies in it was put there by a stranger: it may be thousands of folders deep, and some may be locked.
"""

import itertools
import os
import tempfile
from pathlib import Path

MAX_ENTRIES = 1_000
"""Files and folders that it may hold."""


class Scratch:
    """A new empty folder, `folder`. It lies in one of ours, so that removing it has a place to put things."""

    def __init__(self) -> None:
        self._outer = Path(tempfile.mkdtemp(prefix="grading-"))
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
            except OSError:
                continue  # it is gone meanwhile, locked, or its path is too long: what is above it counts
        return False

    def remove(self) -> None:
        """Removes it and all in it, once nobody uses it any more."""
        # Each folder is lifted to the top before we look into it: neither recursion nor the length of paths has a say.
        numbers = itertools.count()
        folders = [self.folder]
        while folders:
            folder = folders.pop()
            os.chmod(folder, 0o700)
            for name in os.listdir(folder):
                path = folder / name
                if path.is_dir() and not path.is_symlink():
                    lifted = self._outer / str(next(numbers))
                    os.chmod(path, 0o700)
                    path.rename(lifted)
                    folders.append(lifted)
                else:
                    path.unlink()
            folder.rmdir()
        self._outer.rmdir()
