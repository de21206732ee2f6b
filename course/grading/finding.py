"""How a test ended, and what result that is for a submission."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course.grading.client import StudentError
from course.grading.failure import describe
from course.grading.messages import WROTE, explain_raise, explain_test, is_undefined, joined
from course.grading.plan import Step
from course.grading.report import Result, Verdict
from course.grading.text import printable
from course.grading.verdicts import partial, verdict_on
from course.grading.wire import WireError

MAX_LOG = 50_000
"""Characters of a traceback that are kept: an error's text may hold all that student code answered."""


@dataclass(frozen=True)
class Finding:
    """All that a test's end says by itself: whoever answers the test the same way gets the same.

    `raised` is what the student's code raised, as failure.describe says it; where that lies in the cells is for each
    submission to see. `missing` is a name that the test wanted and that is not there. `wrote` where student code wrote
    into what the test handed over.
    """

    verdict: Verdict
    points: float = 0.0
    message: str = ""
    log: str = ""
    raised: dict[str, Any] | None = None
    missing: str = ""
    wrote: bool = False

    @property
    def nbytes(self) -> int:
        """What it takes to keep it, about."""
        return len(self.message) + len(self.log) + len(repr(self.raised))

    def result(self, step: Step, cells: dict[str, str]) -> Result:
        """The result of `step` for a submission whose cells these are, by name."""
        message = self.message if self.raised is None else explain_raise(step, self.raised, cells)
        if self.wrote and self.points < step.points:
            message = joined(message, WROTE)
        return Result(step.name, self.verdict, self.points, step.points, message, self.log)


def find(step: Step, run: Callable[[], Any]) -> Finding:
    """Runs a test, whose last line's value `run` returns. What breaks the wire is no finding: WireError goes on."""
    try:
        points = partial(run(), step.points)
    except WireError:
        raise
    except StudentError as error:
        return Finding(verdict_on(error.said), log=_log(), raised=error.said)
    except Exception as error:
        verdict = Verdict.FAILED if isinstance(error, AssertionError) else verdict_on(describe(error))
        missing = error.name if is_undefined(error) else ""
        return Finding(verdict, message=explain_test(step, error), log=_log(), missing=missing)
    return Finding(Verdict.PASSED if points == step.points else Verdict.FAILED, points)


def _log() -> str:
    return printable(traceback.format_exc(), MAX_LOG)
