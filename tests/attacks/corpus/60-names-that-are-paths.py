"""Names cells after paths, templates, commands and terminal codes, which may reach a file name or a message.

A name that the source does not have makes an ordinary cell, and is printed harmlessly.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 5

NAMES = (
    *("../../../gradebook.db", "/etc/passwd", "..\\\\..", "a\x00b", "\x1b]0;owned\x07\x1b[2J", "{{ 7 * 7 }}", "%s%n"),
    *("'; DROP TABLE grade; --", "x" * 100_000, "<script>attack()</script>", "double ", "DOUBLE", "double\n"),
)


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    for name in NAMES:
        hostile = appended(hostile, "'a cell'")
        hostile.cells[-1].metadata["nbgrader"] = {"grade_id": name, "grade": True, "points": 5, "schema_version": 3}
    return hostile
