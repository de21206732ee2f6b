"""Defines the data that the grader and a student's kernel exchange: first lines of tests, requests, and a file.

grader release --first_line--> released test --CHECK, HIDDEN_TEST--> sentences below a check
grader check, hand_in() --keep_check--> checks.json --last_checks--> the table of progress
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
"""The beginnings of the first lines of released tests, with the name of the exercise."""
MAX_REQUEST = 2_000
"""Characters of a request for a regrade, and of its answer."""
TOO_LONG = f"the text has more than {MAX_REQUEST} characters: make it shorter"
"""The reason why a longer one is refused."""


def first_line(exercise: str, *, is_hidden: bool) -> str:
    """Return the first line of a released test, with its line break.

    Args:
        exercise: the exercise to which it belongs.
        is_hidden: whether it is a hidden test; the release shows only its comments.
    """
    if is_hidden:
        return f"# Hidden test of {exercise}: the grader runs it, not this notebook.\n"
    return f"# Check of {exercise}: run this cell.\n"


def state_file(name: str) -> Path:
    """Return the path of one of this user's state files, in $XDG_STATE_HOME or ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state", "grader", name)


def write_state(file: Path, content: Any) -> None:
    """Replace a state file as a whole, so that whoever reads it finds the old content or the new one.

    Args:
        file: a path from `state_file`; its folder is made if missing.
        content: what it will hold, as JSON.

    Raises:
        OSError: the file cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_name(f"{file.name}.{os.getpid()}")
    whole.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    whole.replace(file)


def last_checks() -> dict[str, Any]:
    """Return the last check of each notebook: {"/the/file.ipynb": {"points": 12.0, "max_points": 18.0, "time": 9.0}}.

    The time is that of `time.time`. An unreadable file counts as empty.
    """
    with suppress(OSError, ValueError):
        checks = json.loads(state_file("checks.json").read_text(encoding="utf-8"))
        return checks if isinstance(checks, dict) else {}
    return {}


def keep_check(notebook: Path, points: float, max_points: float) -> None:
    """Store the points of a check; they replace those of the notebook's last check.

    Args:
        notebook: the notebook.
        points: its points from tests.
        max_points: the maximum.

    Raises:
        OSError: the file cannot be written.
    """
    checks = last_checks()
    checks[str(notebook.resolve())] = {"points": points, "max_points": max_points, "time": time.time()}
    write_state(state_file("checks.json"), checks)
