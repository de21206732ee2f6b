"""Opens submitted files, and follows no link, neither in a submission nor on the way to it.

A link may lead to another student's work, a pipe may never end, and a sparse file may be of any length: such files are
rejected. The kernel resolves one name at a time, each in the folder opened before.
"""

import errno
import os
import stat
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UnreadableFile

MAX_ENTRIES = 1_000
"""Most files and folders of a submission that are listed."""
FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class FolderEntry:
    """A file or folder of a submission, by its path inside the submission."""

    path: Path
    is_file: bool
    is_folder: bool


@dataclass(frozen=True)
class SubmissionFolder:
    """The folder of a submission.

    Args:
        path: the folder.
        trusted: the folder above it that the instructor chose. Everything below may come from students.
    """

    path: Path
    trusted: Path

    def read(self, name: str, max_mb: int) -> bytes:
        """Return the content of a file.

        Args:
            name: the file's name.
            max_mb: its size limit, in MiB.

        Raises:
            UnreadableFile: it is a link or is behind one, is not an ordinary file, or is too large.
        """
        try:
            with self._opened() as folder:
                descriptor = os.open(name, FILE, dir_fd=folder)
        except OSError as error:
            raise UnreadableFile(f"{name} cannot be read ({_reason(error)})") from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFile(f"{name} is not a file")
            if status.st_size > max_mb * 2**20:
                size = status.st_size / 2**20
                raise UnreadableFile(
                    f"{name} has {size:.0f} MB, and at most {max_mb} MB are read",
                    "ask for it without outputs",
                    "clear its outputs, and save it",
                )
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(max_mb * 2**20)
        finally:
            os.close(descriptor)

    def has(self, name: str) -> bool:
        """Return whether the folder has an entry of this name.

        Raises:
            UnreadableFile: the folder is behind a link.
            OSError: the folder cannot be read.
        """
        try:
            with self._opened() as folder:
                os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def entries(self, into: Container[Path] | None = None) -> list[FolderEntry]:
        """Return the files and folders in the folder and in the folders in it, at most MAX_ENTRIES.

        Args:
            into: the folders to list, by their paths inside this one; by default those directly in it.

        Raises:
            UnreadableFile: the folder is behind a link.
            OSError: the folder cannot be read.
        """
        found: list[FolderEntry] = []
        with self._opened() as folder:
            _collect(folder, Path(), into, found)
        return found

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder for a `with` block, name by name from the trusted one."""
        folder = os.open(self.trusted, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in self.path.relative_to(self.trusted).parts:
                if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise UnreadableFile(
                        f"the folder {name} is a link, and no link is followed", "put the files themselves there"
                    )
                inner = os.open(name, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)


def read_bytes(path: Path, max_mb: int) -> bytes:
    """Return the content of a file that a person named; raise as `SubmissionFolder.read`."""
    return SubmissionFolder(path.parent, path.parent).read(path.name, max_mb)


def _collect(folder: int, path: Path, into: Container[Path] | None, found: list[FolderEntry]) -> None:
    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(listed) as entries:
            for entry in entries:
                if len(found) >= MAX_ENTRIES:
                    return
                is_folder = entry.is_dir(follow_symlinks=False)
                found.append(FolderEntry(path / entry.name, entry.is_file(follow_symlinks=False), is_folder))
                if is_folder and (path == Path() if into is None else path / entry.name in into):
                    try:
                        inner = os.open(entry.name, FOLDER, dir_fd=listed)
                    except OSError:
                        continue  # a locked folder is listed without its content
                    try:
                        _collect(inner, path / entry.name, into, found)
                    finally:
                        os.close(inner)
    finally:
        os.close(listed)


def _reason(error: OSError) -> str:
    return "it is a link, and no link is followed" if error.errno == errno.ELOOP else str(error.strerror)
