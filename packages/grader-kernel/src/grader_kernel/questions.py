"""Asks quick questions in a notebook: no points, no hurdle, an answer at once with its reason.

    choose, number, order or point  ->  a widget (widgets/question.js)  --answers-->  questions.json in the user's home

A wrong answer that the author foresaw gets its own reply. The call stands in a folded cell, because it holds the
answers, and its arguments are literals, so that a program can read them.
"""

import ast
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from grader_kernel import answers
from grader_kernel.widget import FOLDER, Widget, html

_REVIEW = (
    "Review: up to five questions a day, of those that you answered before. Run this cell in JupyterLab, "
    "or open the page Review of the book."
)


@dataclass(frozen=True)
class Question:
    """A question, which becomes a widget where a notebook shows it."""

    data: dict[str, Any]
    """The fields that widgets/question.js reads: name, kind, text, and those of its kind."""

    def widget(self) -> Widget:
        """Return a new widget that asks the question, knows earlier answers, and keeps new ones."""
        name = self.data["name"]
        # The HTML goes into the notebook's file, and so must not hold anyone's answers.
        shown = Widget(FOLDER / "question.js", {"question": self.data, "answers": []}, f"Question: {self.data['text']}")
        shown.state = {"question": self.data, "answers": answers.kept().get(name, {"answers": []})["answers"]}
        shown.observe(lambda change: answers.keep({name: {"answers": change["new"]["answers"]}}), "state")
        return shown

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.widget()._repr_mimebundle_(**kwargs)


def choose(name: str, question: str, *, right: Mapping[str, str], wrong: Mapping[str, str]) -> Question:
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
) -> Question:
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
) -> Question:
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
) -> Question:
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


def review(folder: str | os.PathLike[str] = ".", *, count: int = 5) -> Widget:
    """Show questions of a folder's notebooks that were answered before and are due again, a few each day.

    What is due follows from the answers, which stay on this computer.

    Args:
        folder: a folder with notebooks, or with subfolders that have them.
        count: the most questions a day.
    """
    shown = Widget(FOLDER / "review.js", {"count": count}, _REVIEW, page=f"<p>{escape(_REVIEW)}</p>")
    shown.state = {"questions": in_folder(Path(folder)), "kept": answers.kept(), "count": count}

    def keep(change: Mapping[str, Any]) -> None:
        # Another kernel may have kept answers since; the widget counts those of today, too.
        everything = answers.keep(change["new"]["kept"])
        if everything != change["new"]["kept"]:
            shown.state = {**change["new"], "kept": everything}

    def refresh(*message: object) -> None:
        shown.state = {**shown.state, "kept": answers.kept()}

    shown.observe(keep, "state")
    shown.on_msg(refresh)
    return shown


def review_page(folders: Iterable[str | os.PathLike[str]], *, count: int = 5) -> str:
    """Return the review as HTML for a page with `page.js`, whose reader's browser keeps the answers.

    Args:
        folders: folders with notebooks; their questions become part of the HTML.
        count: the most questions a day.
    """
    found = [question for folder in folders for question in in_folder(Path(folder))]
    return html(FOLDER / "review.js", {"questions": found, "kept": {}, "count": count}, _REVIEW)


def in_folder(folder: Path) -> list[dict[str, Any]]:
    """Return the data of all questions in the notebooks of a folder and its subfolders, in the order of the files.

    The cells are parsed and not run. Other cells and damaged questions are left out.

    Args:
        folder: the folder.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted([*folder.glob("*.ipynb"), *folder.glob("*/*.ipynb")]):
        with suppress(OSError, ValueError, KeyError, TypeError):
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    found |= {question.data["name"]: question.data for question in _in_cell("".join(cell["source"]))}
    return list(found.values())


def _in_cell(source: str) -> Iterator[Question]:
    if "questions." not in source:
        return
    with suppress(SyntaxError, ValueError, TypeError):  # a magic, a call that is no question, or a refused one
        for statement in ast.parse(source).body:
            match statement:
                case ast.Expr(ast.Call(ast.Attribute(module, kind), texts, named)) if (
                    kind in _KINDS and ast.unparse(module).removeprefix("grader_kernel.") == "questions"
                ):
                    given = {each.arg: ast.literal_eval(each.value) for each in named if each.arg}
                    yield _KINDS[kind](*map(ast.literal_eval, texts), **given)


_KINDS: dict[str, Callable[..., Question]] = {"choose": choose, "number": number, "order": order, "point": point}


def _ask(name: str, kind: str, question: str, **data: Any) -> Question:
    return Question({"name": name, "kind": kind, "text": question, **data})


def _shuffled(name: str, things: list[Any]) -> list[Any]:
    """Return things in an order that depends on the name alone, so a notebook always shows the same."""
    return random.Random(name).sample(things, len(things))
