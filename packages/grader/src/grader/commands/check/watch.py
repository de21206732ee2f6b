"""Checks a notebook at every save, and shows what has changed since the last time."""

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.commands.check.check import CheckedNotebook
from grader.commands.check.screen import changes, next_step, screen
from grader.errors import GraderError
from grader.files import Stamp, stamp
from grader.text import one_line

POLL_SECONDS = 0.3


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
            if (settled := _settled(path)) not in (None, checked_stamp):
                checked_stamp = settled
                console.print(Text(f"{path.name}, as saved at {_time(settled)}", "dim"))
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
    before = stamp(path)
    if before is None or time.time_ns() - before[0] > 10 * POLL_SECONDS * 1e9:
        return before
    time.sleep(POLL_SECONDS / 3)
    return before if stamp(path) == before else None


def _time(saved: Stamp | None) -> str:
    return time.strftime("%H:%M:%S", time.localtime(saved[0] / 1e9 if saved else None))
