"""Keeps the points of each notebook's last check in the user's home, where a course can show what is done.

$XDG_STATE_HOME/grader/checks.json, or the same in ~/.local/state: {"/path/of/the.ipynb": {"points": 12.0, ...}}
"""

import json
import time
from contextlib import suppress

from grader.classroom.course_root import state_file
from grader.classroom.replacing import replace_file
from grader.commands.check.check import CheckedNotebook


def keep(checked: CheckedNotebook) -> None:
    """Keep the points of a whole notebook, in place of those of its last check. Nothing depends on it.

    Args:
        checked: the notebook; a part of one is not kept, nor is a report that did not come to an end.
    """
    if checked.is_part or checked.report.given_up:
        return
    file = state_file("checks.json")
    checks = {}
    with suppress(OSError, ValueError):
        checks = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(checks, dict):
        checks = {}
    report = checked.report
    checks[str(checked.path.resolve())] = {
        "points": report.points, "max_points": report.max_points, "time": time.time()
    }  # fmt: skip
    with suppress(OSError):
        replace_file(file, json.dumps(checks, indent=1))
