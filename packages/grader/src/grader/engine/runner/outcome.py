"""Describes how a test ended, and derives its result for one submission."""

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
"""Characters of a traceback that are kept: the text of an error may hold everything that student code answered."""


@dataclass(frozen=True)
class TestOutcome:
    """How a test ended. It follows from the answers that the test got: equal answers give an equal outcome.

    `result` is shared by the submissions with these answers. `error` is the exception of student code that ended the
    test, if one did; where in the cells it arose depends on the submission, so it is explained later. `wrote` is true
    if student code changed its arguments in place.
    """

    __test__ = False  # pytest collects classes that are called so

    result: Result
    error: ErrorInfo | None = None
    wrote: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes, about, that it takes to keep."""
        return len(repr(self.result.explanation)) + len(self.result.log) + len(repr(self.error))

    def explained(self, step: Step, cells: dict[str, str]) -> Result:
        """Return the result of a test for one submission.

        Args:
            step: the test.
            cells: the sources of the submission's cells by name.
        """
        if self.result.points >= step.points:
            return replace(self.result, exercise=step.exercise)
        explanation = self.result.explanation if self.error is None else explain_raise(step, self.error, cells)
        if explanation.cause is Cause.NONE:
            explanation = Explanation(truth_of(step), Cause.PART)
        explanation = replace(explanation, changed_arguments=self.wrote)
        return replace(self.result, exercise=step.exercise, explanation=explanation)


def outcome_of(step: Step, run: Callable[[], Any]) -> TestOutcome:
    """Run a test and return how it ended.

    Args:
        step: the test.
        run: runs it and returns the value of its last line.

    Raises:
        ProtocolError: a message broke the protocol, which is no outcome of the test.
    """
    try:
        points = partial(run(), step.points)
    except ProtocolError:
        raise
    except StudentError as error:
        return TestOutcome(step.result(verdict_on(error.info), log=_log()), error.info)
    except Exception as error:
        verdict = Verdict.FAILED if isinstance(error, AssertionError) else verdict_on(to_data(error))
        return TestOutcome(step.result(verdict, explain_test(step, error), _log()))
    return TestOutcome(step.result(Verdict.PASSED if points == step.points else Verdict.FAILED, points=points))


def _log() -> str:
    return printable(traceback.format_exc(), MAX_LOG)
