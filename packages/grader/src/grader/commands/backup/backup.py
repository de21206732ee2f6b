"""Writes a backup of a course that is in use; README.md has the order and why.

databases --SQLite's backup API--> temporary copies --+
files, as they are --------------------------------- --+--> ZIP archive, with the manifest as its last member
"""

import os
import sqlite3
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

import msgspec
from sqlalchemy import make_url

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.catch_up import catch_up
from grader.commands.backup.manifest import MANIFEST, PREFIX, KeptFile, Manifest
from grader.commands.backup.proof import MAGIC, digest, missing_hand_ins
from grader.commands.serve.store import DATABASE
from grader.errors import GraderError
from grader.text import one_line, plural

LEFT_OUT = {".git", ".hg", ".svn", ".venv", "venv", "__pycache__", ".ipynb_checkpoints", ".cache", "node_modules"}
"""Names of folders that others keep or that are made again."""
HIDDEN = (".lock", ".new")
"""Ends of the names of hidden files that belong to a running program."""
BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of the files that SQLite keeps beside a database."""
TRIES = 3
"""Attempts to find a moment in which every hand-in has its bytes."""


def back_up(course_dir: CourseDir, file: Path, note: Callable[[str], None]) -> Manifest:
    """Write a backup of a course, whole or not at all, and return its manifest.

    Args:
        course_dir: the course folder.
        file: the archive to write, readable by this account only, because it holds the work and marks of all students.
        note: shows a notice.

    Raises:
        GraderError: the gradebook is not an SQLite file in the course folder, or the archive exists, is in the course
            folder, or cannot be written.
    """
    gradebook = _gradebook(course_dir)
    if file.resolve().is_relative_to(course_dir.root):
        raise GraderError(f"{file} is in the course folder, whose loss it is for: choose a place outside")
    if file.exists():
        raise GraderError(f"{file} already exists: choose another name, or remove it first")
    catch_up(course_dir)
    new = file.with_name(f".{file.name}.new")
    try:
        manifest, links = _written(course_dir, gradebook, new)
        os.link(new, file)  # unlike a rename, it replaces no file
    except sqlite3.Error as error:
        raise GraderError(f"a database of the course cannot be read ({error}): restore an earlier backup") from error
    except OSError as error:
        if error.filename and Path(error.filename).is_relative_to(course_dir.root):
            raise GraderError(f"{error.filename} cannot be read ({error.strerror}): make it readable") from error
        raise GraderError(
            f"{file} cannot be written ({error.strerror or error}): choose another place, or free some space there"
        ) from error
    finally:
        with suppress(OSError):
            new.unlink()
    if links:
        names = ", ".join(one_line(each, 100) for each in links[:5])
        note(f"{plural(len(links), 'link')} left out, whose files are elsewhere: {names}")
    if manifest.without_bytes:
        note(f"{plural(len(manifest.without_bytes), 'hand-in')} had no file any more before the backup")
    if "CourseDirectory.root" in _config_text(course_dir):
        note("nbgrader_config.py has the path of this folder in c.CourseDirectory.root: change it after a restore")
    return manifest


def _written(course_dir: CourseDir, gradebook: Path | None, new: Path) -> tuple[Manifest, list[str]]:
    """Write the archive; return its manifest, and the links that were left out."""
    with tempfile.TemporaryDirectory() as copies:
        for left in reversed(range(TRIES)):
            new.unlink(missing_ok=True)
            descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w+b") as archive:
                making = _Making(course_dir, gradebook, archive, Path(copies))
                is_whole = making.make(is_last=not left)
                archive.flush()
                os.fsync(archive.fileno())
            if is_whole:
                break
        return making.manifest, making.links


class _Making:
    """One attempt to write an archive. `links` are what was left out because it is a link."""

    def __init__(self, course_dir: CourseDir, gradebook: Path | None, archive: IO[bytes], copies: Path) -> None:
        self._course_dir, self._root, self._copies, self._gradebook = course_dir, course_dir.root, copies, gradebook
        self._zip = zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.links: list[str] = []
        course = course_dir.directory
        pattern = course.format_path(course.submitted_directory, "{student_id}", "{assignment_id}")
        self.manifest = Manifest(submitted=Path(pattern).relative_to(self._root).as_posix())
        self._submitted = self._root / Path(self.manifest.submitted).parts[0]

    def make(self, *, is_last: bool) -> bool:
        """Write everything; return False if a hand-in lost its bytes meanwhile, unless this is the last attempt."""
        manifest, hand_ins = self.manifest, self._root / DATABASE
        with self._zip:
            if hand_ins.exists():
                manifest.hand_ins = DATABASE
                self._add_database(hand_ins)
            record = self._course_dir.record
            assert record is not None
            later = {hand_ins, record.path, self._gradebook}
            self._add_folder(self._root, later)
            with record.locked():
                self._add(record.path)
                if self._gradebook is not None:
                    manifest.gradebook = self._name(self._gradebook)
                    self._add_database(self._gradebook)
            if self._submitted.is_dir():
                self._add_folder(self._submitted, set())
            if manifest.hand_ins:
                _, manifest.without_bytes = missing_hand_ins(self._copy(hand_ins), manifest)
                if manifest.without_bytes and not is_last:
                    return False
            self._zip.writestr(MANIFEST, msgspec.json.encode(manifest))
        return True

    def _add_folder(self, folder: Path, later: set[Path | None]) -> None:
        is_empty = True
        for path in self._entries(folder):
            is_empty = False
            if path in later or (path == self._submitted and folder == self._root):
                continue
            with suppress(FileNotFoundError):  # replaced or removed since it was listed
                mode = path.lstat().st_mode
                if stat.S_ISLNK(mode):
                    self.links.append(self._name(path))
                elif stat.S_ISDIR(mode):
                    self._add_folder(path, later)
                elif stat.S_ISREG(mode):
                    self._add_database(path) if self._is_database(path) else self._add(path)
        if is_empty and folder != self._root:
            self.manifest.folders.append(self._name(folder))

    def _entries(self, folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            if self._is_left_out(path) or (path.name.startswith(".") and path.name.endswith(HIDDEN)):
                continue
            end = next(filter(path.name.endswith, BESIDE), "")
            if not (end and self._is_database(path.with_name(path.name.removesuffix(end)))):
                yield path

    def _is_left_out(self, path: Path) -> bool:
        """Return True for a folder that is made again; a student may have its name."""
        is_student = path.parent == self._submitted and not path.name.startswith(".")
        return path.name in LEFT_OUT and path.is_dir() and not path.is_symlink() and not is_student

    def _add_database(self, path: Path) -> None:
        """Add a database as it is at one moment; its writers wait that long, and then go on."""
        copy = self._copy(path)
        copy.unlink(missing_ok=True)
        with closing(sqlite3.connect(path, timeout=60)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # all in one file
        self.manifest.databases.append(self._name(path))
        self._add(path, copy)

    def _add(self, path: Path, content: Path | None = None) -> None:
        info = zipfile.ZipInfo.from_file(path, PREFIX + self._name(path), strict_timestamps=False)
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as member:
            size, sha256 = digest(content or path, member.write)
        self.manifest.files.append(KeptFile(self._name(path), size, sha256))

    def _is_database(self, path: Path) -> bool:
        """Return True for a database of the course; one of a student is a file like others, and never opened."""
        if path.parent != self._root and path != self._gradebook:
            return False
        with suppress(OSError), path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
        return False

    def _copy(self, path: Path) -> Path:
        return self._copies / self._name(path).replace("/", "%")

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _gradebook(course_dir: CourseDir) -> Path | None:
    """Return the gradebook's file, None if there is none yet; raise GraderError if a backup would not hold it."""
    address = make_url(course_dir.directory.db_url)
    if address.get_backend_name() != "sqlite":
        raise GraderError(
            "the gradebook is in PostgreSQL, whose own tool makes backups: stop the service, run pg_dump, and copy the "
            "course folder"
        )
    path, submitted = Path(address.database or ""), course_dir.folder("submitted", "x", "x")
    path = path if path.is_absolute() else course_dir.root / path
    for each in (path, submitted):
        if not each.resolve().is_relative_to(course_dir.root):
            raise GraderError(
                f"{each} is not below the course folder {course_dir.root}, and a backup is of one folder: move it there"
            )
    return course_dir.root / path.resolve().relative_to(course_dir.root) if path.exists() else None


def _config_text(course_dir: CourseDir) -> str:
    with suppress(OSError):
        return (course_dir.root / "nbgrader_config.py").read_text(errors="replace")
    return ""
