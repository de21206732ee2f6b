"""Picks the mistakes for the next lecture: those that cost the class most, with the notebook's own small examples."""

from collections.abc import Sequence

from nbformat import NotebookNode

from grader.commands.report.model import LectureItem, Mistake, UnnamedGroup
from grader.engine.notebook.cells import CellType, grade_id, type_of

ITEMS = 3
CELLS = 4
"""Cells of an example, the last ones before the blank."""


def lecture(
    sources: dict[str, NotebookNode], mistakes: Sequence[Mistake], groups: Sequence[UnnamedGroup]
) -> list[LectureItem]:
    """Return the mistakes that cost most, with or without a name.

    Args:
        sources: the instructors' notebooks by name.
        mistakes: the known mistakes that were made.
        groups: the groups without a name.
    """
    items = [
        LectureItem(
            "; ".join(each.names), each.exercise, each.notebook, len(each.students), each.cost, each.hint,
            example(sources, each.notebook, each.exercise),
        )
        for each in mistakes
    ]  # fmt: skip
    items += [
        LectureItem(
            "a mistake without a name", each.exercise, each.notebook, len(each.students), each.cost,
            each.example.message, example(sources, each.notebook, each.exercise),
        )
        for each in groups
    ]  # fmt: skip
    return sorted(items, key=lambda each: -each.cost)[:ITEMS]


def example(sources: dict[str, NotebookNode], notebook: str, exercise: str) -> str:
    """Return the example that a notebook works before an exercise, as Markdown; '' if the exercise is not there.

    Args:
        sources: the instructors' notebooks by name.
        notebook: the notebook's name.
        exercise: the grade_id of the blank.
    """
    cells = sources[notebook].cells if notebook in sources else []
    blank = next((place for place, cell in enumerate(cells) if grade_id(cell) == exercise), 0)
    before: list[NotebookNode] = []
    for cell in reversed(cells[:blank]):
        if type_of(cell) in (CellType.AUTOGRADED_ANSWER, CellType.TEST, CellType.MANUAL_ANSWER):
            break
        before.insert(0, cell)
        if len(before) == CELLS:
            break
    return "\n\n".join(_markdown(cell) for cell in before)


def _markdown(cell: NotebookNode) -> str:
    if cell.cell_type != "code":
        return str(cell.source)
    shown = [
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.outputs
        if "image/png" not in output.get("data", {})
    ]
    parts = [f"```python\n{cell.source}\n```", *(f"```\n{text.rstrip()}\n```" for text in shown if text.strip())]
    return "\n\n".join(parts)
