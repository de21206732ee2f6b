"""Defines the data that the grader and a student's kernel exchange: first lines of tests, requests, and a file.

grader release --released_test--> released test --CHECK, HIDDEN_TEST--> sentences below a check, and in the book
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
HIDDEN_TEST = re.compile(r"# Hidden test of ([\w-]+)(?:, run by the grader: (.*))?")
"""The beginnings of released tests, with the name of the exercise, and the sentence of a hidden test."""
MAX_REQUEST = 2_000
"""Characters of a request for a regrade, and of its answer."""
TOO_LONG = f"the text has more than {MAX_REQUEST} characters: make it shorter"
"""The reason why a longer one is refused."""


def has_code(text: str) -> bool:
    """Return whether a cell's text holds more than comments and empty lines."""
    return any(line.strip() and not line.startswith("#") for line in text.splitlines())


def released_test(exercise: str, text: str) -> str:
    """Return the text of a test as it is released: a check below a line that names it, and a hidden test in one line.

    Args:
        exercise: the exercise to which it belongs.
        text: the test without the code that is hidden. A hidden test has only comments, which are its sentence.
    """
    if has_code(text):
        first = f"# Check of {exercise}: run this cell.\n"
        return first + text.removeprefix(first)
    begin = f"# Hidden test of {exercise}, run by the grader"
    sentence = " ".join(line.lstrip("#").strip() for line in text.splitlines() if line.strip())
    # nbgrader's own command reads its settings twice, and then releases each test twice.
    return text if text.startswith(begin) else f"{begin}: {sentence}".removesuffix(": ")


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
