"""Defines what a score depends on besides the submission, as digests that say what has changed since."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Part(StrEnum):
    """What may have changed since a score was given, in the words in which people read it."""

    NOTEBOOKS = "source/"
    LIMITS = "c.Limits"
    LATE = "the due date or the rule for late work"


class Basis(msgspec.Struct, frozen=True):
    """Digests of all that a student's score depends on besides the submission.

    Args:
        notebooks: the notebooks in source/ and the files beside them.
        limits: the limits.
        late: the student's due date, and the rule for late work.
        mistakes: the known mistakes, which change sentences and no points.
        grader: the grader's code, the helper packages and the versions of libraries.
    """

    notebooks: str
    limits: str
    late: str
    mistakes: str = ""
    grader: str = ""

    def changed(self, now: "Basis", *, is_late: bool = True) -> frozenset[Part]:
        """Return what of the course has changed since a score with this basis was given.

        A student is graded again for the other two as well. They do not make a number older than the course.

        Args:
            now: the present basis.
            is_late: whether a change of the due date or its rule can matter.
        """
        same = {
            Part.NOTEBOOKS: self.notebooks == now.notebooks,
            Part.LIMITS: self.limits == now.limits,
            Part.LATE: self.late == now.late or not is_late,
        }
        return frozenset(part for part, is_same in same.items() if not is_same)


def named(parts: Iterable[Part]) -> str:
    """Return the names of what has changed, in the order of `Part`."""
    found = frozenset(parts)
    return " and ".join(part.value for part in Part if part in found)
