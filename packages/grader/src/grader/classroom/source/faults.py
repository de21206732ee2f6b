"""Describes mistakes of ours in a source notebook, for its author: the cell, the line, the reason, what to do.

a test that our own solution fails, a read-only cell that does not run --> Fault --rendered here--> lines
"""

from collections.abc import Iterable, Iterator

import msgspec

from grader.engine.explanation import Ending, EndingKind
from grader.engine.report import Result
from grader.text import plural

REMEDIES = {
    EndingKind.PROPERTY: "correct the test or our solution",
    EndingKind.NAME: "correct the name, or bind it in this cell or in a read-only cell above",
    EndingKind.BOUNDARY: "pass what can cross to student code, as the page for authors lists it",
    EndingKind.SYNTAX: "correct the syntax of the cell",
    EndingKind.ERROR: "correct this line, or what our solution returns to it",
    EndingKind.RAISED: "correct our solution, or the call to it",
    EndingKind.STOPPED: "let test and solution use less, or raise the limit in c.Limits",
    EndingKind.NOT_RUN: "correct the cell, or install what it needs and name it in c.Grader.helper_packages",
}

WITHIN_ONE_PROCESS = (EndingKind.PROPERTY, EndingKind.BOUNDARY, EndingKind.ERROR, EndingKind.RAISED)
"""The kinds that a test may also end by because the student's code is in another process."""


class Fault(msgspec.Struct, frozen=True):
    """A mistake of ours in the cell `cell` of a notebook, which costs `lost` of `max_points`.

    A read-only cell has no points of its own. `together` is true for a test that ran in one process with our solution.
    """

    notebook: str
    cell: str
    ending: Ending
    lost: float = 0.0
    max_points: float = 0.0
    together: bool = False

    @property
    def stops(self) -> bool:
        """Whether to grade no one: a test without points costs no one anything."""
        return self.lost > 0 or self.ending.kind is EndingKind.NOT_RUN

    @property
    def place(self) -> str:
        """The cell and the line."""
        line = f", line {self.ending.line}" if self.ending.line else ""
        return f"{self.notebook}, {self.cell}{line}"

    @property
    def why(self) -> str:
        """The failure of our own solution there, and the remedy."""
        lost = f"our solution loses {self.lost:g} of {plural(self.max_points, 'point')} here"
        what = "this read-only cell does not run" if self.ending.kind is EndingKind.NOT_RUN else lost
        remedy = REMEDIES[self.ending.kind]
        if self.ending.kind in WITHIN_ONE_PROCESS and not self.together:
            remedy += "; if both are right in a notebook, tag the cell `together`"
        return f"{what} ({self.ending.reason}): {remedy}"


def of_result(notebook: str, result: Result) -> Fault:
    """Return the fault of a test that lost points or did not run to its end.

    Args:
        notebook: the name of its notebook.
        result: the result.
    """
    explanation = result.explanation
    stopped = Ending(EndingKind.STOPPED, f"{result.verdict}: {explanation.detail or explanation.message}")
    lost = result.max_points - result.points
    return Fault(notebook, result.name, result.ending or stopped, lost, result.max_points, result.together)


def lines_on(faults: Iterable[Fault]) -> Iterator[str]:
    """Yield two lines on each fault: where it is, and what it is."""
    for fault in faults:
        text = f": {fault.ending.text}" if fault.ending.text else ""
        yield f"  {fault.place}{text}"
        yield f"    {fault.why}"
