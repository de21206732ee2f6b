"""Defines the commands `grader backup` and `grader restore`."""

import argparse
from pathlib import Path

from grader.commands.shared import Command, note
from grader.text import plural


def _backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the backup to write, such as course-2026-03-02.zip")


def _backup(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.backup.backup import back_up

    manifest = back_up(CourseDir(Path.cwd()), parsed.file, note)
    print(
        f"wrote {parsed.file}: {plural(len(manifest.files), 'file')}, {manifest.size / 2**20:.1f} MB before compression"
    )
    return 0


def _restore_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup of grader backup")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to put the course: a new or empty folder")


def _restore(parsed: argparse.Namespace) -> int:
    from grader.commands.backup.restore import restore

    proof = restore(parsed.file, parsed.folder)
    print(
        f"restored {parsed.folder}: {plural(proof.files, 'file')} with the digests of the backup, "
        f"{plural(proof.databases, 'sound database')}, {plural(proof.students, 'student')} in the gradebook, "
        f"{plural(proof.hand_ins, 'accepted hand-in')} with their files"
    )
    return 0


COMMANDS = (
    Command("backup", "put the whole course into one file, while everything runs", _backup_options, _backup),
    Command("restore", "put a backup into an empty folder, and prove that it is whole", _restore_options, _restore),
)
