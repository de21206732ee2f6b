"""Lays two answers side by side: which lines of the one are lines of the other, after renaming.

two sources --canonical--> statements --difflib, then those that were moved--> pairs of lines
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from grader.commands.report.canonical import Statement, lines_of, statements
from grader.commands.report.model import Passage
from grader.text import printable

MAX_LINES, MAX_CHARACTERS = 300, 300
"""How many lines of an answer are shown, and characters of each."""


def passage(exercise: str, left: str, right: str) -> Passage:
    """Return two answers to an exercise side by side.

    Args:
        exercise: the exercise.
        left: the source of one answer.
        right: the source of the other.
    """
    shown, beside = (
        [printable(line, MAX_CHARACTERS) for line in lines_of(source)[:MAX_LINES]] for source in (left, right)
    )
    same = {
        (one, other)
        for first, second in matching(statements(left), statements(right))
        # A statement may be broken into lines in two ways.
        for one, other in zip(range(first.first, first.last + 1), range(second.first, second.last + 1), strict=False)
        if one < len(shown) and other < len(beside)
    }
    return Passage(exercise, shown, beside, sorted(same))


def matching(left: Sequence[Statement], right: Sequence[Statement]) -> Iterator[tuple[Statement, Statement]]:
    """Yield the statements that are the same: those in the same order, and then those that were moved.

    Args:
        left: the statements of one answer.
        right: those of the other.
    """
    texts = [each.text for each in left], [each.text for each in right]
    rest_left, rest_right = dict(enumerate(left)), dict(enumerate(right))
    for block in SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            yield rest_left.pop(block.a + step), rest_right.pop(block.b + step)
    moved = defaultdict(list)
    for statement in reversed(rest_right.values()):
        moved[statement.text].append(statement)
    for statement in rest_left.values():
        if moved[statement.text]:
            yield statement, moved[statement.text].pop()
