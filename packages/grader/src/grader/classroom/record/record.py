"""Reads and appends to record.jsonl, the record of a course: one entry a line, in the order of the changes.

    Entry --lock, append, fsync--> record.jsonl --> entries

Other tools may read the file: each complete line is a JSON object. If a program is killed while it appends, the next
one replaces the incomplete line by an entry with its text.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import msgspec
from msgspec.structs import replace

from grader.classroom.record.entry import GRADER, Entry, Kind, new_id, now
from grader.errors import GraderError
from grader.files import locked
from grader.text import one_line

RECORD = "record.jsonl"
Append = Callable[[Iterable[Entry]], None]
UNDONE = "undone, because the gradebook could not be written"
_BLOCK = 2**16
_encoder, _decoder = msgspec.json.Encoder(), msgspec.json.Decoder(Entry)


class Record:
    """The record of a course folder. All methods are safe to call from several threads and processes."""

    def __init__(self, root: Path) -> None:
        """Take the record of a course folder; the first entry creates the file.

        Args:
            root: the course folder.
        """
        self.path = root / RECORD
        self._reading = Lock()
        self._entries: list[Entry] = []
        self._inode, self._offset = 0, 0

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first, under the names that students and assignments have now.

        Only those after the last call are read.

        Raises:
            GraderError: the file cannot be read, or a line is not an entry.
        """
        with self._reading:
            try:
                with open(self.path, "rb") as file:
                    status = os.fstat(file.fileno())
                    if status.st_ino != self._inode or status.st_size < self._offset:
                        self._entries, self._inode, self._offset = [], status.st_ino, 0
                    file.seek(self._offset)
                    new = file.read()
            except FileNotFoundError:
                self._entries, self._inode, self._offset = [], 0, 0
                return []
            except OSError as error:
                raise GraderError(f"{self.path} cannot be read ({error.strerror}): make it readable") from error
            complete = new[: new.rfind(b"\n") + 1]
            new_entries = [
                self._decoded(line, number) for number, line in enumerate(complete.splitlines(), len(self._entries) + 1)
            ]
            for entry in new_entries:
                if entry.kind is Kind.RENAME:
                    self._entries = [each.renamed_by(entry) for each in self._entries]
                self._entries.append(entry)
            self._offset += len(complete)
            return list(self._entries)

    def append(self, entries: Iterable[Entry]) -> None:
        """Append entries, all on the disk when this returns.

        Raises:
            GraderError: the file cannot be written; then no entry was appended.
        """
        with self.locked() as append:
            append(entries)

    @contextmanager
    def locked(self) -> Iterator[Append]:
        """Keep other writers away, and yield the function that appends; it may be called several times.

        Use it to decide what to append by what is there; `recording` is for known changes. Do not call `append` of the
        record inside.

        Raises:
            GraderError: the file cannot be written.
        """
        try:
            with locked(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, wait=True) as file:
                self._share(file)
                self._repair(file)
                yield lambda entries: self._append(file, entries)
        except OSError as error:
            if error.filename not in (str(self.path), self.path):
                raise
            raise self._not_written(error) from error

    @contextmanager
    def recording(self, entries: Collection[Entry]) -> Iterator[None]:
        """Append entries before the block, which makes their changes, and the way back if the block fails.

        The record stays locked during the block. Lock nothing else before, such as the gradebook by a statement that
        writes, or two programs wait for each other.

        Args:
            entries: what the block changes; if it is empty, nothing is locked.

        Raises:
            GraderError: the file cannot be written; the block did not run.
        """
        if not entries:
            yield
            return
        with self.locked() as append:
            append(entries)
            try:
                yield
            except BaseException:
                append(
                    replace(each, before=each.after, after=each.before, why=UNDONE, time=now(), id=new_id())
                    for each in entries
                )
                raise

    def _append(self, file: int, entries: Iterable[Entry]) -> None:
        data, end = b"".join(_encoder.encode(entry) + b"\n" for entry in entries), os.fstat(file).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
            os.fsync(file)
        except OSError as error:
            os.ftruncate(file, end)
            raise self._not_written(error) from error

    def _share(self, file: int) -> None:
        """Give a new record the rights of the folder's group: on a hub the service makes it, and instructors mark.

        The umask of the program that happens to be the first one plays no part.
        """
        status = os.fstat(file)
        if not status.st_size and status.st_uid == os.geteuid():
            os.fchmod(file, 0o600 | (self.path.parent.stat().st_mode & 0o060))

    def _repair(self, file: int) -> None:
        """Replace an incomplete last line by an entry with its text."""
        end = os.fstat(file).st_size
        if not end or os.pread(file, 1, end - 1) == b"\n":
            return
        torn, start = b"", end
        while start and b"\n" not in torn:
            start = max(0, start - _BLOCK)
            torn = os.pread(file, end - start, start)
        torn = torn[torn.rfind(b"\n") + 1 :]
        os.ftruncate(file, end - len(torn))
        text = one_line(torn.rstrip(b"\0").decode(errors="replace"))
        self._append(file, [Entry(kind=Kind.REPAIR, who=GRADER, why=text)])

    def _decoded(self, line: bytes, number: int) -> Entry:
        try:
            return _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise GraderError(
                f"{self.path}: line {number} is not an entry of the record ({one_line(error, 200)}): take the line out "
                "or restore it from a backup"
            ) from error

    def _not_written(self, error: OSError) -> GraderError:
        return GraderError(
            f"{self.path} cannot be written ({error.strerror}), and without an entry no mark is changed: make it "
            "writable or free some disk space"
        )
