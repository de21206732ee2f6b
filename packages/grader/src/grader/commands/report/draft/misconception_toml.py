"""Writes an edit of the reference solution as the TOML entry of a mistake, with placeholders for its name and hint.

two texts --> the text to find, which occurs once, and its replacement --> Misconception --> TOML
"""

import ast
import json
import re
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from grader.commands.prove.mutation import extent
from grader.commands.report.draft.ast_diff import Edit
from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.errors import GraderError

NAME = "… (to be written; it ends the sentence: Your code behaves exactly like one that …)"
HINT = "… (to be written: the symptom that reveals the mistake, without the solution)"
"""Placeholders that an instructor must fill in."""


def change(before: str, after: str) -> Edit:
    """Return the shortest edit that turns the text `before` into `after`."""
    start = next((place for place, pair in enumerate(zip(before, after, strict=False)) if len(set(pair)) > 1), None)
    if start is None:
        start = min(len(before), len(after))
    room = min(len(before), len(after)) - start
    same = next((place for place in range(room) if before[-1 - place] != after[-1 - place]), room)
    return Edit(start, len(before) - same, after[start : len(after) - same])


def as_misconception(reference: str, text: str, exercise: str) -> Misconception | None:
    """Return the edit between two texts as a misconception, with placeholders for its name and hint.

    The text to find is the smallest expression, statement or run of lines around the edit that occurs once.

    Args:
        reference: the reference solution.
        text: the edited text.
        exercise: the exercise.
    """
    edit = change(reference, text)
    beyond = len(text) - len(reference)
    for start, end in _around(reference, edit):
        line = reference[reference.rfind("\n", 0, start) + 1 : start]
        indentation = line[: len(line) - len(line.lstrip())]
        find, replace = (
            each.replace("\n" + indentation, "\n") for each in (reference[start:end], text[start : end + beyond])
        )
        found = Misconception(exercise, NAME, find, replace, HINT)
        try:
            if find and found.apply(reference) == text:
                return found
        except GraderError:
            continue  # it occurs more than once
    return None


def _around(reference: str, change: Edit) -> Iterator[tuple[int, int]]:
    """Yield the starts and ends of texts that contain the change, from the smallest expression to all lines."""
    # A name or a number alone would not identify its position.
    nodes = [
        node
        for node in ast.walk(ast.parse(reference))
        if isinstance(node, ast.expr | ast.stmt)
        and not isinstance(node, ast.Name)
        and any(isinstance(part, ast.Name) for part in ast.walk(node))
    ]
    spans = {extent(reference, node) for node in nodes if not hasattr(node, "body") or isinstance(node, ast.expr)}
    yield from sorted(
        (span for span in spans if span[0] <= change.start and change.end <= span[1]),
        key=lambda span: span[1] - span[0],
    )
    lines = reference.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    first, last = reference.count("\n", 0, change.start), reference.count("\n", 0, change.end)
    for more in range(len(lines)):
        for above, below in ((more, more), (more + 1, more), (more, more + 1)):
            begin, end = starts[max(0, first - above)], starts[min(len(lines), last + 1 + below)]
            content = reference[begin:end].rstrip("\n")
            if not (above or below):
                yield begin + len(content) - len(content.lstrip()), begin + len(content)
            yield begin, begin + len(content)


def as_toml(misconception: Misconception) -> str:
    """Return a misconception as an entry of a TOML file.

    Raises:
        GraderError: the entry would not be loaded unchanged.
    """
    fields = {key: getattr(misconception, key) for key in ("name", "find", "replace", "hint")}
    entry = "[[misconception]]\n" + "".join(f"{key} = {_quoted(text)}\n" for key, text in fields.items())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "misconceptions" / f"{misconception.exercise}.toml"
        path.parent.mkdir()
        path.write_text(entry, encoding="utf-8")
        if load(Path(folder)) != [misconception]:
            raise GraderError(f"the edit {misconception.find!r} cannot be written as TOML; write the entry by hand")
    return entry


def _quoted(text: str) -> str:
    """A text as TOML, in the style of the lists of mistakes."""
    if "\n" in text:
        escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
        return '"""\n' + re.sub('"$', r"\"", escaped) + '"""'
    if '"' in text and not re.search(r"['\\\x00-\x1f]", text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)
