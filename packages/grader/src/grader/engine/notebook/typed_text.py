"""Finds what a student wrote into a cell of ours: the lines that neither the source nor the release has.

cell of the source --released_text--> its lines in the release + the student's cell --> own_lines, is_blank

The release itself is not needed: nbgrader writes a checksum of each released cell into the cell, which also recognises
cells of an earlier release.
"""

import ast
import hashlib
import re
from bisect import bisect_left
from contextlib import suppress
from functools import lru_cache

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, type_of
from grader.engine.notebook.names import names_bound
from grader_kernel.contract import released_test

REGION = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
SOLUTION = "SOLUTION"
NOT_WRITTEN = re.compile(r"\s*(?:#|raise NotImplementedError\b)")
"""A line of a blank that is not an answer: a comment, or the error that the release raises."""
UNSEEN = re.compile(r"</?(?:div|p|br|span)\b[^<>]*>|&nbsp;|\s+", re.IGNORECASE)
"""Parts of a text that a reader does not see."""
KEPT_TEXTS = 1_000


def with_line_feeds(text: str) -> str:
    """Return a text with the line endings of Unix."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_as_released(source_cell: NotebookNode, student_cell: NotebookNode) -> bool:
    """Return whether a cell has the text of the release, apart from line endings and blanks around it."""
    marks, text = student_cell.metadata.get("nbgrader"), with_line_feeds(student_cell.source)
    checksum = marks.get("checksum") if isinstance(marks, dict) else None
    stripped = "\n".join(_lines(text)).strip()
    texts = {student_cell.source, text, stripped, f"{stripped}\n"}
    return isinstance(checksum, str) and any(
        checksum == checksum_of(student_cell, each, source_cell.cell_type) for each in texts
    )


def checksum_of(cell: NotebookNode, text: str, cell_type: str) -> str:
    """Return nbgrader's checksum of a cell, by the rules of `nbgrader.utils.compute_checksum`.

    Args:
        cell: the cell, with nbgrader's metadata.
        text: its text.
        cell_type: its type.
    """
    marks = cell.metadata["nbgrader"]
    grade, solution = marks.get("grade", False), marks.get("solution", False)
    locked = not solution and (bool(grade) or marks.get("locked", False))
    points = marks.get("points") if grade else None
    parts = [text, cell_type, grade, solution, locked, marks.get("grade_id", "")]
    if isinstance(points, int | float):
        parts.append(float(points))
    return hashlib.md5("".join(map(str, parts)).encode(errors="replace"), usedforsecurity=False).hexdigest()


def is_blank(source_cell: NotebookNode, student_cell: NotebookNode) -> bool:
    """Return whether nothing was written into the cell for an answer."""
    if is_as_released(source_cell, student_cell):
        return True
    if type_of(source_cell) is CellType.MANUAL_ANSWER:
        return not UNSEEN.sub("", student_cell.source)
    return not any(line.strip() and not NOT_WRITTEN.match(line) for line in _rest(source_cell, student_cell, ""))


def comments(source_cell: NotebookNode, student_cell: NotebookNode) -> list[str]:
    """Return the comments that a student may have written into a blank."""
    if is_as_released(source_cell, student_cell):
        return []
    return [line for line in _rest(source_cell, student_cell, "") if line.lstrip().startswith("#")]


def own_lines(source_cell: NotebookNode, student_cell: NotebookNode, exercise: str) -> list[str]:
    """Return the lines that a student wrote into a test or a read-only cell.

    Args:
        source_cell: the cell of the source.
        student_cell: the student's.
        exercise: the exercise that it tests, '' for none.
    """
    return [] if is_as_released(source_cell, student_cell) else _rest(source_cell, student_cell, exercise)


def is_edited(source_cell: NotebookNode, student_cell: NotebookNode, exercise: str) -> bool:
    """Return whether the text of a test or a read-only cell differs from ours; arguments as in `own_lines`."""
    if is_as_released(source_cell, student_cell):
        return False
    known = (released_text(source_cell, exercise), released_text(source_cell, ""), source_cell.source)
    return _significant(student_cell.source) not in map(_significant, known)


def released_text(source_cell: NotebookNode, exercise: str) -> str:
    """Return the text of a cell in the release, and of an answer the part that is given.

    Args:
        source_cell: the cell of the source.
        exercise: the exercise that a test belongs to, which the release names in the first line; '' for none.
    """
    return _released(source_cell.source, type_of(source_cell), exercise)


def names_to_define(source_cell: NotebookNode) -> frozenset[str]:
    """Return the names that an answer must define: functions and classes, or else variables, of our own."""
    solution = source_cell.source
    given = _without_regions(solution, "raise NotImplementedError()")
    for text in (given, solution):
        with suppress(SyntaxError):
            tops = ast.parse(text).body
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            if names := frozenset(top.name for top in tops if isinstance(top, kinds)) or names_bound(text):
                return names
    return frozenset()


def defines(text: str, names: frozenset[str]) -> bool:
    """Return whether code defines all names, none if there are none to define.

    The code is not parsed, because it is a student's.
    """
    return bool(names) and all(_definition(name).search(text) for name in names)


@lru_cache(maxsize=KEPT_TEXTS)
def _definition(name: str) -> re.Pattern[str]:
    known = re.escape(name)
    return re.compile(rf"^(?:(?:async +)?def +{known}\b|class +{known}\b|{known} *(?::[^=\n]*)?=(?!=))", re.MULTILINE)


def _rest(source_cell: NotebookNode, student_cell: NotebookNode, exercise: str) -> list[str]:
    """Return the lines of the student's cell that ours does not have; the fewest of both forms of our cell."""
    forms = {released_text(source_cell, exercise), released_text(source_cell, "")}
    if type_of(source_cell) not in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER):
        forms.add(source_cell.source)
    theirs = _lines(student_cell.source)
    rests = [_without(_lines(form), theirs) for form in forms]
    return min(rests, key=lambda rest: (sum(map(bool, rest)), -len(rest), rest))


@lru_cache(maxsize=KEPT_TEXTS)
def _released(source: str, kind: CellType, exercise: str) -> str:
    if kind in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER) and f"BEGIN {SOLUTION}" not in source:
        return ""  # the release has a stub in its place
    text = _without_regions(source)
    return released_test(exercise, text) if kind is CellType.TEST and exercise else text


def _without_regions(source: str, stub: str = "") -> str:
    """Return a source without solutions, hidden tests and mark schemes, with a stub in place of each solution."""
    kept, is_hidden = [], False
    for line in source.split("\n"):
        if mark := REGION.search(line):
            is_hidden = mark[1] == "BEGIN"
            if is_hidden and stub and mark[2] == SOLUTION:
                kept.append(line[: len(line) - len(line.lstrip())] + stub)
        elif not is_hidden:
            kept.append(line)
    return "\n".join(kept)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in with_line_feeds(text).split("\n")]


def _significant(text: str) -> list[str]:
    return [line for line in _lines(text) if line]


def _trimmed(lines: list[str]) -> list[str]:
    """Return lines without the empty ones at both ends."""
    filled = [index for index, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _without(ours: list[str], theirs: list[str]) -> list[str]:
    """Return their lines without ours, of which some may be missing."""
    ours = _trimmed(ours)
    for start in [index for index, line in enumerate(theirs) if ours and line == ours[0]][:100]:
        if theirs[start : start + len(ours)] == ours:
            return _joined(theirs[:start], theirs[start + len(ours) :])
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    ours, theirs = ours[first:], theirs[first:]
    last = next(
        (i for i, (a, b) in enumerate(zip(ours[::-1], theirs[::-1], strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    ours, theirs = ours[: len(ours) - last], theirs[: len(theirs) - last]
    ways = [_not_in_order(ours, theirs), _not_in_order(ours[::-1], theirs[::-1])[::-1]]
    return _trimmed(min(ways, key=lambda rest: sum(map(bool, rest))))


def _not_in_order(ours: list[str], theirs: list[str]) -> list[str]:
    """Return their lines without those that follow one another as in ours, found in one pass."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(ours):
        places.setdefault(line, []).append(place)
    rest, following = [], 0
    for line in theirs:
        known = places.get(line, []) if line else []
        if (index := bisect_left(known, following)) < len(known):
            following = known[index] + 1
        else:
            rest.append(line)
    return rest


def _joined(above: list[str], below: list[str]) -> list[str]:
    above, below = _trimmed(above), _trimmed(below)
    return [*above, "", *below] if above and below else above or below
