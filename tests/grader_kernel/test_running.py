"""Below a cell that runs for seconds, a line in the front end says how far it is; nothing of it stays."""

from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from grader_kernel.running import with_progress
from tests.support.notebooks import IN_A_FRONT_END, code, notebook
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

SLOW = """
import time
from grader_kernel.running import with_progress
print("before")
for epoch in with_progress(range(2)):
    for step in with_progress(range(4)):
        time.sleep(0.7)
        if step == 2:
            break
print("after")
"""
FAILS = "for _ in with_progress('ab'):\n    time.sleep(4)\n    1 / 0"
PLAIN = "time.sleep(4)\n'a value'"
QUICK = "for _ in with_progress(range(100)): pass"


class Watcher(NotebookClient):
    """Runs a notebook, and keeps what was shown on the way."""

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Keep the line of each message that has one."""
        self.shown = getattr(self, "shown", {})
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.shown.setdefault(cell_index, []).append(msg["content"]["data"].get("text/plain", ""))
        return super().process_message(msg, cell, cell_index)


def run(config: Config | None) -> tuple[NotebookNode, dict[int, list[str]]]:
    """Run the cells; return the notebook, and by the number of a cell the lines that were shown."""
    cells = notebook(code("import grader_kernel"), *map(code, (SLOW, FAILS, PLAIN, QUICK)))
    client = Watcher(cells, allow_errors=True, timeout=HANGS, config=config)
    client.execute()
    return cells, client.shown


def kinds(cells: NotebookNode) -> list[set[str]]:
    """Return of each cell the kinds of outputs that hold something."""
    return [{output.output_type for output in cell.outputs if output.get("data") != {}} for cell in cells.cells]


def test_a_line_counts_loops_or_seconds_and_is_taken_away() -> None:
    """The outer loop comes first, and no loop of an earlier cell counts; a quick cell has no line, and outputs stay."""
    cells, shown = run(IN_A_FRONT_END)
    *lines, last = shown[1]
    assert lines and last == ""
    assert all(" of 2, " in line and line.endswith(" of 4") for line in lines)
    assert lines[-1].startswith("███") and len(lines[-1].split()[0]) == 20
    assert shown[2][0].endswith(" 0 of 2") and shown[2][-1] == ""
    assert shown[3][0].startswith("running for ") and shown[3][-1] == ""
    assert not {0, 4} & set(shown)
    assert kinds(cells) == [set(), {"stream"}, {"error"}, {"execute_result"}, set()]
    assert "".join(output.get("text", "") for output in cells.cells[1].outputs) == "before\nafter\n"


def test_programs_get_no_line() -> None:
    """Outputs of nbval, nbgrader and the book are the same on a slow machine and on a fast one."""
    cells, shown = run(None)
    assert shown == {}
    assert kinds(cells) == [set(), {"stream"}, {"error"}, {"execute_result"}, set()]
    assert not any(output.get("data") == {} for cell in cells.cells for output in cell.outputs)


def test_with_progress_is_a_plain_loop_elsewhere() -> None:
    """It yields the items in order, also within itself and after a `break`."""
    pairs = []
    for outer in with_progress("ab"):
        for inner in with_progress([1, 2, 3]):
            if inner == 3:
                break
            pairs.append((outer, inner))
    assert pairs == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
