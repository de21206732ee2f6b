"""Reads a folder as if it were an archive: an unpacked one, submitted/ itself, or a single file that was sent by mail.

folder --listed, no link followed--> files --read, at a bounded cost--> bytes
"""

import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.commands.lms.archive.archive import MAX_NAME, ArchivedFile, Budget
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.errors import UnreadableFile

FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an entry of an archive can have."""


class Folder:
    """A folder, or a single file: its readable files, and the refused ones with reasons, like an `Archive`."""

    def __init__(self, path: Path, max_entries: int) -> None:
        """List the files.

        Args:
            path: the folder or the file.
            max_entries: the largest number of files and folders.

        Raises:
            UnreadableFile: there are more.
            OSError: it cannot be listed.
        """
        self._root = path if path.is_dir() else path.parent
        self.files: list[ArchivedFile] = []
        self.refused: list[tuple[ArchivedFile, str]] = []
        entries = _listed(path, ()) if path.is_dir() else iter([((path.name,), path.lstat())])
        for number, (parts, status) in enumerate(entries):
            if number >= max_entries:
                raise UnreadableFile(f"has more than {max_entries} entries", "name the folder of one student")
            file = ArchivedFile(parts, _facts(parts, status))
            if os.path.isfile(self._root.joinpath(*parts)) and not os.path.islink(self._root.joinpath(*parts)):
                self.files.append(file)
            else:
                self.refused.append((file, "it is a link or not a file, and no link is followed"))

    def read(self, file: ArchivedFile, max_mb: int, budget: Budget) -> bytes:
        """Return the content of a file.

        Args:
            file: one of `files`.
            max_mb: its largest size, in MiB.
            budget: the budget of all files.

        Raises:
            UnreadableFile: it is too large, or cannot be read any more.
        """
        *folders, name = file.parts
        content = SubmissionFolder(self._root.joinpath(*folders), self._root).read(name, max_mb)
        budget.take(len(content))
        return content

    def path_of(self, file: ArchivedFile) -> Path:
        """Return where a file is.

        Args:
            file: one of `files`.
        """
        return self._root.joinpath(*file.parts)

    def close(self) -> None:
        """Nothing is open."""


def _listed(folder: Path, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], os.stat_result]]:
    """Yield all files below a folder, and links, which are not followed, in order."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        parts = (*above, entry.name)
        if entry.is_dir(follow_symlinks=False):
            yield from _listed(folder / entry.name, parts)
        else:
            yield parts, entry.stat(follow_symlinks=False)


def _facts(parts: tuple[str, ...], status: os.stat_result) -> zipfile.ZipInfo:
    """Return what an archive would say of a file."""
    year, month, day, hour, minute, second, *_ = time.gmtime(status.st_mtime)
    info = zipfile.ZipInfo("/".join(parts)[:MAX_NAME], max(FIRST_TIME, (year, month, day, hour, minute, second)))
    info.file_size = status.st_size
    return info
