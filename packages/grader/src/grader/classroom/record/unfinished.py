"""Keeps a change of names until it is done everywhere: folders, databases and accounts cannot be changed as one.

    Unfinished --write--> .grader-unfinished.json --the change--> removed

If a program is killed in between, the file remains, and every command asks for the one that finishes the change.
"""

from pathlib import Path

import msgspec

from grader.classroom.record.entry import Entry, Kind
from grader.errors import GraderError
from grader.files import replace_file
from grader.text import command_line, one_line

FILE = ".grader-unfinished.json"


class Unfinished(msgspec.Struct, frozen=True):
    """A change that has begun: the entry that the record gets, and the moves of files from path to path."""

    entry: Entry
    moves: list[tuple[str, str]]

    @property
    def command(self) -> str:
        """The command that makes this change."""
        entry = self.entry
        if entry.kind is Kind.REMOVAL:
            words = ["roster", "--remove", entry.student]
        else:
            words = [*(("roster", "--rename") if entry.student else ("rename",)), str(entry.before), str(entry.after)]
        return command_line(["grader", *words])


def read_unfinished(root: Path) -> Unfinished | None:
    """Return the change that was interrupted, or None.

    Args:
        root: the course folder.

    Raises:
        GraderError: the file cannot be read.
    """
    try:
        return msgspec.json.decode((root / FILE).read_bytes(), type=Unfinished)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise GraderError(
            f"{root / FILE} cannot be read ({one_line(error)}): restore the course from a backup"
        ) from None


def write_unfinished(root: Path, change: Unfinished | None) -> None:
    """Keep a change before it begins; remove it when it is done, which is None.

    Args:
        root: the course folder.
        change: the change.
    """
    if change is None:
        (root / FILE).unlink(missing_ok=True)
    else:
        replace_file(root / FILE, msgspec.json.encode(change), is_durable=True)


def require_finished(root: Path) -> None:
    """Raise GraderError if a change of names was interrupted: half of the course would have the old name."""
    if change := read_unfinished(root):
        raise GraderError(f"a change of names was interrupted: run {change.command} again, which finishes it")
