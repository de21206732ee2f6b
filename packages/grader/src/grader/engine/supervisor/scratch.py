"""Makes the private folder that student code may write into, measures it while it is in use, and removes it.

The files of the assignment are in a folder of their own, read-only, and links in each scratch folder lead to them.

Its content is untrusted: it may be thousands of folders deep, and some may be locked. A run holds the kernel's lock on
each folder that it uses, and the lock ends with the process. A folder without a lock was left by a run that was killed,
and the next run removes it.
"""

import atexit
import itertools
import os
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.rpc.jobs import FilesFolder
from grader.files import locked

PREFIX = "grader-"
MAX_ENTRIES = 1_000
"""Files and folders that a scratch folder may hold."""


class Scratch:
    """A new folder, `folder`, inside an outer one that student code cannot reach; removal needs that one.

    Args:
        files: its files, by path. Student code may change them.
        ours: the assignment's files, to which it gets links.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None, ours: FilesFolder | None = None) -> None:
        _remove_abandoned(tempfile.gettempdir())
        self._outer, self._lock = _locked_folder()
        self.folder = self._outer / "scratch"
        self.folder.mkdir()
        for path, content in (files or {}).items():
            file = self.folder / path
            if file.parent != self.folder:
                file.parent.mkdir(exist_ok=True)
                file.parent.chmod(0o777)  # student code may run as another user
            file.write_bytes(content)
            file.chmod(0o666)
        if ours is not None:
            self._link(ours)

    def _link(self, ours: FilesFolder) -> None:
        for path in ours.paths:
            link = self.folder / path
            for folder in reversed(link.relative_to(self.folder).parents[:-1]):
                if not (self.folder / folder).is_dir():
                    (self.folder / folder).mkdir()
                    (self.folder / folder).chmod(0o777)
            link.symlink_to(ours.folder / path)

    def is_full(self, megabytes: int) -> bool:
        """Return whether the folder holds more than `megabytes` MiB or more than MAX_ENTRIES files and folders."""
        room, count, folders = megabytes * 2**20, 0, [str(self.folder)]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        count += 1
                        room -= entry.stat(follow_symlinks=False).st_blocks * 512
                        if room < 0 or count > MAX_ENTRIES:
                            return True
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
            except FileNotFoundError:
                continue  # removed in the meantime
            except OSError:
                return True  # locked, or its path is too long: its content cannot be measured
        return False

    def remove(self) -> None:
        """Remove the folder and everything in it, once no process uses it any more."""
        _remove(self._outer)
        self._lock.close()


_folders: dict[tuple[int, str], FilesFolder] = {}
_making = threading.Lock()


def shared_folder(files: AssignmentFiles) -> FilesFolder:
    """Return a read-only folder with the files of an assignment, which this process makes once and removes at its end.

    Args:
        files: the files.
    """
    with _making:
        known = _folders.get((os.getpid(), files.digest))
        if known is None or not known.folder.is_dir():
            _remove_abandoned(tempfile.gettempdir())
            outer, lock = _locked_folder()
            outer.chmod(0o711)  # student code may run as another user
            folder = outer / "files"
            folder.mkdir()
            for path, content in files.contents.items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                file.chmod(0o444)
            for name, _, _ in os.walk(folder):
                os.chmod(name, 0o555)
            known = FilesFolder(folder, tuple(files.contents), files.digest)
            _folders[os.getpid(), files.digest] = known
            atexit.register(_remove_shared, os.getpid(), outer, lock)
    return known


def _remove_shared(owner: int, outer: Path, lock: ExitStack) -> None:
    if os.getpid() == owner:
        with suppress(OSError):
            _remove(outer)
        lock.close()


@cache
def _remove_abandoned(parent: str) -> None:
    """Remove, once in each process, the folders in `parent` that killed processes of the same user left behind."""
    for outer in Path(parent).glob(f"{PREFIX}*"):
        # Another process may hold it, or another user may own it.
        with suppress(OSError), locked(outer, os.O_DIRECTORY) as lock:
            if os.fstat(lock).st_uid == os.geteuid():
                _remove(outer)


def _locked_folder() -> tuple[Path, ExitStack]:
    """Make and lock a folder; return it with the stack that releases the lock."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        with suppress(FileNotFoundError), ExitStack() as lock:
            lock.enter_context(locked(folder, os.O_DIRECTORY, wait=True))
            # Before it was locked, another process may have removed it as abandoned.
            if os.path.isdir(folder):
                return Path(folder), lock.pop_all()


def _remove(outer: Path) -> None:
    # Each folder is moved to the top before it is opened, so that neither recursion nor the length of paths matters.
    # It gets a new name there and not a new folder, because the disk may be full.
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
