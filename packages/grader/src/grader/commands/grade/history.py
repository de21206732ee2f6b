"""Shows the history of a student's marks from the record: when, by whom, what, and why."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from grader.classroom.record.entry import Entry, Kind
from grader.text import one_line

TITLES = {
    Kind.MARK: "marked",
    Kind.OVERRIDE: "set by hand",
    Kind.EXTRA_CREDIT: "extra credit",
    Kind.CHANGED: "test",
    Kind.EXTENSION: "extension",
    Kind.REGRADE_REQUEST: "asks for a regrade",
    Kind.ANSWER: "answer to the request",
    Kind.RENAME: "renamed",
    Kind.REMOVAL: "removed",
}
WITHOUT_VALUES = (Kind.REGRADE_REQUEST, Kind.REMOVAL)


def history(entries: Iterable[Entry], assignment: str, student: str) -> Table | None:
    """Return a line for each entry about a student in an assignment, the oldest first; None if there are none.

    Args:
        entries: the record.
        assignment: the assignment's name.
        student: the student's name.
    """
    own = [each for each in entries if each.student == student and each.assignment in ("", assignment)]
    if not own:
        return None
    table = Table.grid(padding=(0, 2))
    for entry in own:
        values = "" if entry.kind in WITHOUT_VALUES else f" {_value(entry.before)} → {_value(entry.after)}"
        why = f": {entry.why}" if entry.why else ""
        what = f"{entry.cell} {TITLES[entry.kind]}{values}{why}".strip()
        table.add_row(*(Text(one_line(part)) for part in (f"{entry.time:%Y-%m-%d %H:%M:%S} UTC", entry.who, what)))
    return table


def _value(value: float | str | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else value
