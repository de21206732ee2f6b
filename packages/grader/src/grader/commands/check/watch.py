"""Checks a notebook at every save, and shows what has changed since the last time."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.commands.check.check import CheckedNotebook
from grader.commands.check.screen import changes, next_step, screen
from grader.errors import GraderError
from grader.text import one_line

POLL_SECONDS = 0.3

Stamp = tuple[int, int, int]


def watch(path: Path, check: Callable[[], CheckedNotebook], following: Callable[[Path], str], console: Console) -> None:
    """Check a notebook now and whenever it was saved, until Ctrl-C.

    Args:
        path: the notebook. An editor may write into its file, or put another file in its place.
        check: checks the notebook.
        following: finds the notebook that follows a source.
        console: the terminal.
    """
    known: CheckedNotebook | None = None
    checked_stamp: Stamp | None = None
    try:
        while True:
            if (stamp := _settled(path)) not in (None, checked_stamp):
                checked_stamp = stamp
                console.print(Text(f"{path.name}, as saved at {_time(stamp)}", "dim"))
                try:
                    checked = check()
                except GraderError as error:
                    console.print(Text(f"grader: {one_line(error)}"))
                else:
                    console.print(changes(known, checked) if known else screen(checked))
                    console.print(next_step(checked, following(checked.source_path)), Text())
                    known = checked
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        return


def _settled(path: Path) -> Stamp | None:
    """The state of the file, once it has stayed the same for a moment; None while it is written or missing."""
    before = _stamp(path)
    if before is None or time.time_ns() - before[0] > 10 * POLL_SECONDS * 1e9:
        return before
    time.sleep(POLL_SECONDS / 3)
    return before if _stamp(path) == before else None


def _stamp(path: Path) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _time(stamp: Stamp | None) -> str:
    return time.strftime("%H:%M:%S", time.localtime(stamp[0] / 1e9 if stamp else None))
