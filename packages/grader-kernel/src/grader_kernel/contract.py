"""Holds what the grader writes and a student's kernel reads, or the other way round: first lines, and a file.

grader release --first_line--> released test --CHECK, HIDDEN_TEST--> sentences below a check
grader check, hand_in() --keep_check--> checks.json --last_checks--> the table of what is done
"""

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

CHECK = re.compile(r"# Check of ([\w-]+)")
HIDDEN_TEST = re.compile(r"# Hidden test of ([\w-]+)")
"""How the first lines of released tests begin, with the name of the exercise."""


def first_line(exercise: str, *, is_hidden: bool) -> str:
    """Return the first line of a released test, with its line break.

    Args:
        exercise: the exercise to which it belongs.
        is_hidden: whether it is a hidden test, of which the release shows only comments.
    """
    if is_hidden:
        return f"# Hidden test of {exercise}: the grader runs it, not this notebook.\n"
    return f"# Check of {exercise}: run this cell.\n"


def state_file(name: str) -> Path:
    """Return the path of a file in which something is kept for this user: in $XDG_STATE_HOME, or in ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state", "grader", name)


def last_checks() -> dict[str, Any]:
    """Return the last check of each notebook: {"/the/file.ipynb": {"points": 12.0, "max_points": 18.0, "time": 9.0}}.

    The time is that of `time.time`. A file that cannot be read has no checks.
    """
    with suppress(OSError, ValueError):
        checks = json.loads(state_file("checks.json").read_text(encoding="utf-8"))
        return checks if isinstance(checks, dict) else {}
    return {}


def keep_check(notebook: Path, points: float, max_points: float) -> None:
    """Keep the points of a check, in place of those of the notebook's last one.

    Args:
        notebook: the notebook.
        points: its points from tests.
        max_points: the most that there are.

    Raises:
        OSError: the file cannot be written.
    """
    checks = last_checks()
    checks[str(notebook.resolve())] = {"points": points, "max_points": max_points, "time": time.time()}
    file = state_file("checks.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_name(f"{file.name}.{os.getpid()}")
    whole.write_text(json.dumps(checks, indent=1), encoding="utf-8")
    whole.replace(file)
