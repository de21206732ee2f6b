"""Opens untrusted zip archives, and refuses harmful entries with a reason.

bytes --zipfile--> directory --refused: bombs, overlaps, ...--> entries --read, at a bounded cost--> bytes

An entry's name never becomes a path. It only identifies the student and the notebook, so any name is safe.
Only for deflate does zipfile bound the decompressed bytes, so other methods are refused.
"""

import io
import stat
import unicodedata
import zipfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.commands.lms.settings import Archives
from grader.errors import UnreadableFile
from grader.text import one_line

METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
ENCRYPTED, IS_UTF8 = 0x1 | 0x40 | 0x2000, 0x800
"""Flag bits of an entry: the content or the directory is encrypted; the name is in UTF-8."""
LOCAL_HEADER = 30
"""Bytes before an entry's name and content."""
DIRECTORY_ENTRY = b"PK\x01\x02"
SMALL = 2**20
"""Up to this size, in bytes, a file is harmless at any ratio."""
MAX_NAME = 255
"""Characters in the name of a file or folder. Recognising a name takes time quadratic in its length."""


@dataclass(frozen=True)
class ArchivedFile:
    """A file in an archive, and the components of its path."""

    parts: tuple[str, ...]
    info: zipfile.ZipInfo

    @property
    def path(self) -> str:
        """The file's path, in one line."""
        return one_line("/".join(self.parts), 300)


class Budget:
    """Limits the bytes to unpack; bytes also count towards the `whole` of which this budget is a part."""

    def __init__(self, mb: int, what: str, whole: "Budget | None" = None) -> None:
        """Allow `mb` MiB for `what`."""
        self._mb, self._what, self._whole, self._left = mb, what, whole, mb * 2**20

    def take(self, size: int) -> None:
        """Count bytes, or raise UnreadableFile and count none if they exceed the budget."""
        if size > self._left:
            raise UnreadableFile(f"would be more than the {self._mb} MB of {self._what}", "ask for the notebooks alone")
        if self._whole:
            self._whole.take(size)
        self._left -= size


class Archive:
    """A zip archive: its readable files, and the refused entries with reasons."""

    def __init__(self, source: Path | bytes, limits: Archives, max_entries: int) -> None:
        """Read the directory of an archive.

        Args:
            source: the file, or the bytes of a student's archive, whose entries are counted before parsing.
            limits: the limits of an archive.
            max_entries: the largest number of entries.

        Raises:
            UnreadableFile: it is not a zip archive, or has too many entries.
        """
        if isinstance(source, bytes) and source.count(DIRECTORY_ENTRY) > max_entries:
            raise _too_many(max_entries)
        file: IO[bytes] = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        try:
            self._zip = zipfile.ZipFile(file)
        except Exception as error:  # a crafted directory can make zipfile raise any error of struct, int and codecs
            file.close()
            raise UnreadableFile(f"is not a zip archive, or is damaged ({type(error).__name__})") from None
        self._file, self._limits = file, limits
        if len(self._zip.infolist()) > max_entries:
            self.close()
            raise _too_many(max_entries)
        self.files: list[ArchivedFile] = []
        self.refused: list[tuple[ArchivedFile, str]] = []
        self._sort()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def read(self, file: ArchivedFile, max_mb: int, budget: Budget) -> bytes:
        """Return the content of a file.

        Args:
            file: one of `files`.
            max_mb: its largest size, in MiB.
            budget: the budget of all files.

        Raises:
            UnreadableFile: it is too large or damaged.
        """
        if file.info.file_size > max_mb * 2**20:
            size = file.info.file_size / 2**20
            raise UnreadableFile(f"has {size:.0f} MB, and at most {max_mb} MB are read", "ask for it without outputs")
        budget.take(file.info.file_size)
        try:
            with self._zip.open(file.info) as opened:
                # One byte more than allowed, so that zipfile reaches the end and compares the checksum.
                data = opened.read(file.info.file_size + 1)
        except Exception as error:  # zlib, struct and zipfile each raise their own errors
            raise UnreadableFile(f"is damaged in the archive ({type(error).__name__})") from None
        if len(data) != file.info.file_size:
            raise UnreadableFile("is not as long as the archive says")
        return data

    def _sort(self) -> None:
        """Sort the entries into readable files and refused ones; folders are not needed."""
        entries = [ArchivedFile(_parts(info), info) for info in self._zip.infolist()]
        alike = Counter(_folded(entry) for entry in entries)
        overlapping = _overlapping([entry.info for entry in entries])
        for entry in entries:
            why = _why_refused(entry, self._limits.ratio)
            if not why and (count := alike[_folded(entry)]) > 1:
                why = f"{count} entries have this name, apart from upper and lower case"
            if not why and id(entry.info) in overlapping:
                why = "its bytes belong to another entry as well"
            if why:
                self.refused.append((entry, why))
            elif not entry.info.is_dir():
                self.files.append(entry)


def _too_many(max_entries: int) -> UnreadableFile:
    return UnreadableFile(f"has more than {max_entries} entries", "ask for the notebooks alone")


def _parts(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """The components of an entry's path."""
    name = info.orig_filename
    if not info.flag_bits & IS_UTF8:
        # zipfile decoded it as cp437, but most such programs write UTF-8 without the flag.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return tuple(unicodedata.normalize("NFC", name).replace("\\", "/").removesuffix("/").split("/"))


def _folded(entry: ArchivedFile) -> str:
    return "/".join(entry.parts).casefold()


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """The id() of entries that share bytes, which make a small archive unpack to many large files."""
    found: set[int] = set()
    last, end = None, 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if last is not None and info.header_offset < end:
            found |= {id(last), id(info)}
        if (new_end := info.header_offset + LOCAL_HEADER + info.compress_size) >= end:
            last, end = info, new_end
    return found


def _why_refused(entry: ArchivedFile, ratio: int) -> str:
    """The reason to refuse an entry, or ''."""
    info, mode = entry.info, stat.S_IFMT(entry.info.external_attr >> 16)
    if any(len(part) > MAX_NAME for part in entry.parts):
        return "its name is too long"
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is neither a file nor a folder"  # a link's content is a path, not a notebook
    if info.flag_bits & ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in METHODS:
        return f"it is compressed in a way that is not read (method {info.compress_type})"
    if info.file_size > SMALL and info.file_size > ratio * info.compress_size:
        return f"it would be more than {ratio} times as large when unpacked"
    return ""
