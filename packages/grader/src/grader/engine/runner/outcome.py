"""Holds the outcome of a test, and derives its result for one submission."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from grader.engine.explanation import Cause, Explanation
from grader.engine.notebook.plan import Step
from grader.engine.report import Result, Verdict, partial
from grader.engine.rpc.exceptions import to_data, verdict_on
from grader.engine.rpc.protocol import ErrorInfo, ProtocolError
from grader.engine.runner.messages import explain_raise, explain_test, truth_of
from grader.engine.runner.standins.proxies import StudentError
from grader.text import printable

MAX_LOG = 50_000
"""Characters of a traceback that are kept: an error may quote all that student code answered."""


@dataclass(frozen=True)
class TestOutcome:
    """The outcome of a test, which depends only on the answers to it: equal answers give an equal outcome.

    `error` is the exception of student code that ended the test, if one did. Its position depends on the submission, so
    it is explained later. `wrote` is true if student code changed its arguments in place.
    """

    __test__ = False  # pytest collects classes with such a name

    verdict: Verdict
    points: float = 0.0
    explanation: Explanation = Explanation()
    log: str = ""
    error: ErrorInfo | None = None
    wrote: bool = False

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return len(repr(self.explanation)) + len(self.log) + len(repr(self.error))

    def result(self, step: Step, cells: dict[str, str]) -> Result:
        """Return the result of a test for one submission.

        Args:
            step: the test.
            cells: the sources of the submission's cells by name.
        """
        if self.points >= step.points:
            return Result(step.name, self.verdict, self.points, step.points, log=self.log, exercise=step.exercise)
        explanation = self.explanation if self.error is None else explain_raise(step, self.error, cells)
        if explanation.cause is Cause.NONE:
            explanation = Explanation(truth_of(step), Cause.PART)
        explanation = replace(explanation, changed_arguments=self.wrote)
        return Result(step.name, self.verdict, self.points, step.points, explanation, self.log, step.exercise)


def outcome_of(step: Step, run: Callable[[], Any]) -> TestOutcome:
    """Run a test and return how it ended.

    Args:
        step: the test.
        run: runs it and returns the value of its last line.

    Raises:
        ProtocolError: a message broke the protocol, which says nothing about the test.
    """
    try:
        points = partial(run(), step.points)
    except ProtocolError:
        raise
    except StudentError as error:
        return TestOutcome(verdict_on(error.info), log=_log(), error=error.info)
    except Exception as error:
        verdict = Verdict.FAILED if isinstance(error, AssertionError) else verdict_on(to_data(error))
        return TestOutcome(verdict, explanation=explain_test(step, error), log=_log())
    return TestOutcome(Verdict.PASSED if points == step.points else Verdict.FAILED, points)


def _log() -> str:
    return printable(traceback.format_exc(), MAX_LOG)
