"""Writes trivial answers, and counts the points that they earn together.

answer --> names that it defines --fillings.py below it--> trivial answers
trivial answers, graded --tests of names and parameters left out--> ForNothing
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from grader.commands.prove import fillings
from grader.commands.prove.fillings import Filling

LARGEST_SHARE = 0.1
"""The share of the points that all trivial answers together may earn."""
BELOW = """
import types as _types
_fillings = _types.ModuleType("fillings")
exec({text!r}, _fillings.__dict__)
_fillings.fill(globals(), {own!r}, {filling!r})
"""


class ForNothing(msgspec.Struct):
    """The points that the trivial answers to an exercise earn.

    `tests` has, for each test that a trivial answer passes, the names of those that do. `apart` are the tests of names
    and parameters: those that pass although every method fails. They are in none of the other fields. `points` is the
    sum over `tests`, of the `out_of` that all tests give.
    """

    points: float
    out_of: float
    tests: dict[str, list[str]]
    apart: list[str]

    @property
    def is_too_much(self) -> bool:
        """Whether the share is larger than what trivial answers may earn."""
        return self.points > LARGEST_SHARE * self.out_of


def trivial_answers(answer: str) -> Iterator[tuple[Filling, str]]:
    """Yield the trivial answers that have the functions, the classes and the parameters of a right answer.

    Args:
        answer: the text of the answer cell.
    """
    definitions = [node for node in ast.parse(answer).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    own = [node.name for node in definitions if not node.name.startswith("_")]
    text = Path(fillings.__file__).read_text(encoding="utf-8")
    for filling in Filling if own else ():
        if filling is not Filling.UNUSED or any(isinstance(node, ast.ClassDef) for node in definitions):
            yield filling, answer + BELOW.format(text=text, own=own, filling=filling.value)


def for_nothing(failed: Mapping[str, Collection[str]], points: Mapping[str, float]) -> ForNothing:
    """Return what trivial answers earn.

    Args:
        failed: the tests that each of them fails.
        points: the points of each test.
    """
    apart = [test for test in points if test not in failed.get(Filling.UNUSED, points)]
    tests = {
        test: passing
        for test in points
        if test not in apart and (passing := [name for name, failing in failed.items() if test not in failing])
    }
    out_of = sum(value for test, value in points.items() if test not in apart)
    return ForNothing(sum(points[test] for test in tests), out_of, tests, apart)
