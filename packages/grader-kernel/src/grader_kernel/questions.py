"""Asks quick questions in a notebook: no points, no hurdle, an answer at once with its reason.

    choose, number, order or point  ->  a widget (widgets/question.js)  --answers-->  questions.json in the user's home

A wrong answer that the author foresaw gets its own reply. The call stands in a folded cell, because it holds the
answers, and its arguments are literals, so that a program can read them.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from grader_kernel.widget import FOLDER, Widget


def choose(name: str, question: str, *, right: Mapping[str, str], wrong: Mapping[str, str]) -> Widget:
    """Ask for one of several options, which are shown in an order that depends on the name alone.

    Args:
        name: unique in the course.
        question: the text; `code` stands in backticks.
        right: the right option, with the reason.
        wrong: each wrong option, with what to say to a reader who chose it.

    Raises:
        ValueError: there is not exactly one right option, no wrong one, or an option that is both.
    """
    if len(right) != 1 or not wrong or right.keys() & wrong.keys():
        raise ValueError(f"{name} must have one right option and at least one other that is wrong")
    options = [
        {"text": text, "reply": reply, "right": text in right} for text, reply in [*right.items(), *wrong.items()]
    ]
    return _ask(name, "choose", question, options=_shuffled(name, options))


def number(
    name: str, question: str, *, right: float, tolerance: float, reason: str, wrong: Mapping[float, str]
) -> Widget:
    """Ask for a number.

    Args:
        name: unique in the course.
        question: the text, which says how many digits are wanted.
        right: the number.
        tolerance: how far from a number an answer may be to count as that number; not negative.
        reason: why it is right.
        wrong: numbers of known mistakes, with what to say to a reader who gives one of them.

    Raises:
        ValueError: a wrong number lies within the tolerance of the right one.
    """
    for value in wrong:
        if not abs(value - right) > tolerance >= 0:
            raise ValueError(f"{name}: {value} counts as the right number, {right} with a tolerance of {tolerance}")
    replies = [list(pair) for pair in wrong.items()]
    return _ask(name, "number", question, right=right, tolerance=tolerance, reason=reason, wrong=replies)


def order(
    name: str, question: str, *, lines: Sequence[str], reason: str, wrong: Mapping[tuple[str, str], str]
) -> Widget:
    """Ask for the order of lines, which are shown shuffled.

    Args:
        name: unique in the course.
        question: the text.
        lines: different lines in the right order, two or more.
        reason: why they stand in this order.
        wrong: pairs of lines in a wrong order, (earlier, later), with what to say to a reader who puts them so.

    Raises:
        ValueError: fewer than two lines, equal ones, or a pair that is not two of the lines in a wrong order.
    """
    place = {line: index for index, line in enumerate(lines)}
    if len(place) < 2 or len(place) != len(lines):
        raise ValueError(f"{name} must have two or more different lines")
    for earlier, later in wrong:
        if not place.get(earlier, -1) > place.get(later, len(lines)):
            raise ValueError(f"{name}: {earlier!r} before {later!r} is not two of its lines in a wrong order")
    shown = _shuffled(name, list(lines))
    if shown == list(lines):
        shown = shown[1:] + shown[:1]
    replies = [[earlier, later, reply] for (earlier, later), reply in wrong.items()]
    return _ask(name, "order", question, lines=shown, right=list(lines), reason=reason, wrong=replies)


def point(
    name: str,
    question: str,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    right: Sequence[tuple[int, int]],
    reason: str,
    wrong: Mapping[tuple[int, int], str],
    otherwise: str,
    values: Sequence[Sequence[str]] | None = None,
    row_label: str = "row",
    column_label: str = "column",
) -> Widget:
    """Ask for a cell of a table.

    Args:
        name: unique in the course.
        question: the text.
        rows: a name for each row.
        columns: a name for each column.
        right: (row, column) of each cell that is a right answer, counted from 0.
        reason: why they are right.
        wrong: cells of known mistakes, with what to say to a reader who points at one.
        otherwise: what to say about any other cell.
        values: texts in the cells, by row; without them, the cells are empty.
        row_label: what a row is, such as "query".
        column_label: what a column is, such as "key".

    Raises:
        ValueError: `values` has another shape, a cell is outside, or right and wrong at once.
    """
    shown = [list(row) for row in values] if values is not None else [[""] * len(columns) for _ in rows]
    if [len(row) for row in shown] != [len(columns)] * len(rows):
        raise ValueError(f"{name}: the values must be {len(rows)} rows of {len(columns)}")
    cells = [*right, *wrong]
    if (
        not right
        or len({*cells}) < len(cells)
        or not {*cells} <= {(row, column) for row in range(len(rows)) for column in range(len(columns))}
    ):
        raise ValueError(f"{name} must have right cells in the table, and other cells in the table that are wrong")
    table = {"rows": list(rows), "columns": list(columns), "values": shown, "labels": [row_label, column_label]}
    replies = [[list(cell), reply] for cell, reply in wrong.items()]
    return _ask(
        name, "point", question, **table, right=[list(cell) for cell in right], reason=reason, wrong=replies,
        otherwise=otherwise,
    )  # fmt: skip


def _ask(name: str, kind: str, question: str, **data: Any) -> Widget:
    state = {"question": {"name": name, "kind": kind, "text": question, **data}, "answers": []}
    return Widget(FOLDER / "question.js", state, f"Question: {question}")


def _shuffled(name: str, things: list[Any]) -> list[Any]:
    """Return things in an order that depends on the name alone, so a notebook always shows the same."""
    return random.Random(name).sample(things, len(things))
