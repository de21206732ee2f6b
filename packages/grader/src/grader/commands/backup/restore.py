"""Puts a backup into an empty folder and proves it; a folder that is not proven does not stay."""

import errno
import hashlib
import os
import shutil
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.commands.backup.manifest import FORMAT, MANIFEST, MAX_MANIFEST, PREFIX, KeptFile, Manifest, require_safe
from grader.commands.backup.proof import missing_hand_ins, require_sound, student_count
from grader.errors import GraderError
from grader.text import one_line, plural


@dataclass(frozen=True)
class Proof:
    """What was found whole: the numbers of files, databases, students in the gradebook, and accepted hand-ins."""

    files: int
    databases: int
    students: int
    hand_ins: int


def restore(file: Path, folder: Path) -> Proof:
    """Put a backup into a folder, and prove that it is whole; return the proof.

    Args:
        file: the backup, from any source: it may be damaged or forged.
        folder: the folder, which must be empty or missing.

    Raises:
        GraderError: the folder has files, the backup is damaged, or the disk is full; nothing was restored.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise GraderError(f"{folder} is not an empty folder, and a backup replaces nothing: name a new folder")
    new = folder.with_name(f".{folder.resolve().name}.restoring")
    try:
        with zipfile.ZipFile(file) as archive:
            folder.parent.mkdir(parents=True, exist_ok=True)
            new.mkdir(mode=0o700)
            try:
                proof = _restored(archive, new)
                if folder.exists():
                    folder.rmdir()
                new.rename(folder)
            except BaseException:
                shutil.rmtree(new, ignore_errors=True)
                raise
            return proof
    except GraderError as error:
        raise GraderError(f"{file} cannot be restored, because {error}: use another backup") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, RuntimeError) as error:
        raise GraderError(
            f"{file} is not a whole backup ({one_line(error, 200)}): use another backup, or copy this one again"
        ) from error
    except OSError as error:
        raise GraderError(_reason(error, file, folder, new)) from error


def _restored(archive: zipfile.ZipFile, folder: Path) -> Proof:
    manifest, infos = _manifest(archive), archive.infolist()
    members, listed = {info.filename: info for info in infos}, {PREFIX + each.path for each in manifest.files}
    if len(members) != len(infos) or members.keys() != {MANIFEST, *listed}:
        raise GraderError(f"its files are not those of its list {MANIFEST}")
    free = shutil.disk_usage(folder).free
    if manifest.size > free:
        raise GraderError(f"it needs {manifest.size / 2**20:.0f} MB, and the disk has {free / 2**20:.0f} MB")
    for name in manifest.folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for each in manifest.files:
        _put(archive, members[PREFIX + each.path], each, folder / each.path)
    for name in manifest.databases:
        require_sound(folder / name)
    students = student_count(folder / manifest.gradebook) if manifest.gradebook else 0
    count, missing = missing_hand_ins(folder / manifest.hand_ins, manifest) if manifest.hand_ins else (0, [])
    if lost := set(missing) - set(manifest.without_bytes):
        raise GraderError(f"{plural(len(lost), 'accepted hand-in')} in it have no file, such as {min(lost)}")
    return Proof(len(manifest.files), len(manifest.databases), students, count - len(missing))


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > MAX_MANIFEST:
            raise GraderError(f"its list {MANIFEST} is too large")
        with archive.open(info) as member:
            manifest = msgspec.json.decode(member.read(MAX_MANIFEST + 1), type=Manifest)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GraderError(f"it has no list {MANIFEST} of grader backup ({one_line(error, 100)})") from None
    if manifest.format != FORMAT:
        raise GraderError(f"a newer version of the grader made it (format {manifest.format})")
    require_safe([*(each.path for each in manifest.files), *manifest.folders])
    known = {each.path for each in manifest.files}
    if not known >= {*manifest.databases, *filter(None, (manifest.gradebook, manifest.hand_ins))}:
        raise GraderError("a database is missing")
    return manifest


def _put(archive: zipfile.ZipFile, info: zipfile.ZipInfo, kept: KeptFile, path: Path) -> None:
    """Write a file, and never more than its size in the manifest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Of the permissions only those that data needs; a submission is no program.
    mode = (info.external_attr >> 16) & 0o666 | 0o600
    left, found = kept.size, hashlib.sha256()
    with archive.open(info) as member, open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        while part := member.read(2**20):
            left -= len(part)
            if left < 0:
                break
            found.update(part)
            file.write(part)
    if left or found.hexdigest() != kept.sha256:
        raise GraderError(f"'{one_line(kept.path, 200)}' is not the file that was backed up")


def _reason(error: OSError, file: Path, folder: Path, new: Path) -> str:
    if isinstance(error, FileExistsError) and error.filename == str(new):
        return f"{new} is left from a restore that was killed, or another one is running: remove it, and try again"
    if error.filename == str(file):
        return f"{file} cannot be read ({error.strerror}): correct its name"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{folder} was not restored ({error.strerror}): free some space, or choose another disk"
    return f"{folder} cannot be written ({error.strerror or error}): choose another folder"
