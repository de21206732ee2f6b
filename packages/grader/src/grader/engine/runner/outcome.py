"""Runs a test, and explains why it gave no points. For a hidden test, the explanation shows the property and no code.

    test --> TestOutcome: verdict, points, exception --step, cells--> Result with an Explanation

A hidden test opens with a comment that states what it checks; the release shows it, too. Assertion messages are written
for students. Everything else in a hidden test (code, traceback, values in error messages) stays in the grader.
"""

import ast
import builtins
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from grader.engine.explanation import Cause, Ending, EndingKind, Explanation, Where
from grader.engine.notebook.plan import Step
from grader.engine.report import Result, Verdict, partial
from grader.engine.rpc.exceptions import OF_LIBRARIES, to_data, verdict_on
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import MAX_LINE, ErrorCode, ErrorInfo
from grader.engine.runner.standins.call import CannotPass
from grader.engine.runner.standins.client import CALLED_BACK
from grader.engine.runner.standins.errors import StudentError
from grader.text import plural, printable
from grader_kernel.unfit import compared_dtypes, question
from grader_kernel.without import rule

MAX_LOG = 50_000
"""Characters of a traceback that are kept: an error may quote all that student code answered."""
MAX_REASON = 500
"""Characters of an exception that an instructor's table shows."""
KINDS = set(OF_LIBRARIES) | {
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
IS_MODULE = "is_module"
"""Attribute of a NameError: whether the sandbox has a module of this name."""
LAST_LINE = 200
"""Highest line number in the message of a hidden test. In a longer cell, a student could encode values in it."""


@dataclass(frozen=True)
class TestOutcome:
    """The outcome of a test, which depends only on the answers to it: equal answers give an equal outcome.

    `result` is shared by the submissions with these answers. `error` is the exception of student code that ended the
    test, if one did. Its position depends on the submission, so it is explained later. `wrote` is true if student code
    changed its arguments in place.
    """

    __test__ = False  # pytest collects classes with such a name

    result: Result
    error: ErrorInfo | None = None
    wrote: bool = False

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return len(repr(self.result.explanation)) + len(self.result.log) + len(repr(self.error))

    def explained(self, step: Step, cells: dict[str, str]) -> Result:
        """Return the result of a test for one submission.

        Args:
            step: the test.
            cells: the sources of the submission's cells by name.
        """
        if self.result.points >= step.points or self.result.is_ungradable:
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
        ProtocolError: a message broke the protocol, which says nothing about the test.
    """
    try:
        points = partial(run(), step.points)
    except ProtocolError:
        raise
    except StudentError as error:
        result = step.result(verdict_on(error.info), log=_log())
        return TestOutcome(replace(result, ending=ending_of(step, error)), error.info)
    except Exception as error:
        verdict = Verdict.FAILED if isinstance(error, AssertionError) else verdict_on(to_data(error))
        result = replace(step.result(verdict, _explain_test(step, error), _log()), ending=ending_of(step, error))
        return TestOutcome(result.as_ungradable() if _is_tests_own(step, error) else result)
    if points == step.points:
        return TestOutcome(step.result(Verdict.PASSED, points=points))
    given = f"it gave {points:g} of {plural(step.points, 'point')}"
    ending = _at(step, ast.parse(step.source).body[-1].lineno, EndingKind.PROPERTY, given)
    return TestOutcome(replace(step.result(Verdict.FAILED, points=points), ending=ending))


def _is_tests_own(step: Step, error: Exception) -> bool:
    """Return whether an exception is the fault of the test, whatever the student's code answered."""
    if isinstance(error, SyntaxError):
        # It is not that of a text that the test compiles.
        return error.filename in (None, f"<{step.name}>")
    return isinstance(error, CannotPass)


def ending_of(step: Step, error: Exception) -> Ending:
    """Return the line of a cell at which an exception ended it in this process, and the exception.

    Args:
        step: the cell.
        error: the exception.
    """
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == f"<{step.name}>"
    ]
    if isinstance(error, StudentError):
        return _at(step, lines[-1] if lines else 0, EndingKind.RAISED, _described(error.info.name, error.info.message))
    if isinstance(error, SyntaxError):
        # Before a cell runs, the exception itself has its line. Not `str`, which repeats it.
        line = lines[-1] if lines else error.lineno or 0
        return _at(step, line, EndingKind.SYNTAX, _described(type(error).__name__, error.msg))
    kinds = {AssertionError: EndingKind.PROPERTY, NameError: EndingKind.NAME, CannotPass: EndingKind.BOUNDARY}
    kind = next((kind for cause, kind in kinds.items() if isinstance(error, cause)), EndingKind.ERROR)
    name = TypeError.__name__ if isinstance(error, CannotPass) else type(error).__name__
    return _at(step, lines[-1] if lines else 0, kind, _described(name, str(error)))


def ending_in_sandbox(step: Step, error: ErrorInfo, kind: EndingKind = EndingKind.NOT_RUN) -> Ending:
    """Return the line of a cell at which an exception ended it in the sandbox, and the exception.

    Args:
        step: the cell.
        error: the exception.
        kind: what it was.
    """
    lines = [frame.line for frame in error.frames if frame.cell == f"<{step.name}>"]
    return _at(step, lines[-1] if lines else 0, kind, _described(error.name, error.message))


def _at(step: Step, line: int, kind: EndingKind, reason: str) -> Ending:
    lines = step.source.split("\n")
    text = lines[line - 1].strip() if 1 <= line <= len(lines) else ""
    return Ending(kind, printable(reason, MAX_REASON), line, printable(text, MAX_LINE))


def _described(name: str, message: str) -> str:
    return f"{name}: {message}" if message else name


def _log() -> str:
    return printable(traceback.format_exc(), MAX_LOG)


def _explain_test(step: Step, error: Exception) -> Explanation:
    """Return the explanation of an exception that the test itself raised.

    Args:
        step: the test.
        error: its exception: the test failed or could not continue.
    """
    text, truth = printable(error).strip(), truth_of(step) if step.is_hidden else ""
    if name := _missing_name(error):
        return Explanation(cause=Cause.UNDEFINED, missing=name, is_module=getattr(error, IS_MODULE, False))
    if isinstance(error, AssertionError):
        # A library's message (torch.testing) gives values of the test; the author's is written for students.
        return Explanation(truth, Cause.PROPERTY, text if not step.is_hidden or _is_authors(error, step) else "")
    got_none = isinstance(error, AttributeError | TypeError) and "NoneType" in text
    if step.is_hidden and (called_back := getattr(error, CALLED_BACK, None)) is not None:
        return Explanation(truth, Cause.UNUSABLE, called_back=called_back)
    if step.is_hidden:
        return Explanation(truth, Cause.UNUSABLE, question(text), got_none=got_none)
    if sentence := compared_dtypes(text):
        return Explanation(truth, Cause.PROPERTY, sentence)
    return Explanation(truth, Cause.TEST_ERROR, text, type(error).__name__, got_none=got_none)


def _missing_name(error: Exception) -> str:
    """Return the name that another cell should have defined, if that raised the exception; otherwise ''."""
    return error.name or "" if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) else ""


def explain_raise(step: Step, error: ErrorInfo, cells: dict[str, str]) -> Explanation:
    """Return the explanation of an exception that student code raised while a test called it.

    Args:
        step: the test.
        error: the exception of the student's code.
        cells: the sources of all cells by name.
    """
    where = where_raised(error, cells, step)
    if error.kind == "NotImplementedError" and not error.message:
        # The line of a blank. It may be left over below an answer, or belong to another exercise that this one calls.
        return Explanation(cause=Cause.NOT_WRITTEN, where=where)
    truth = truth_of(step) if step.is_hidden else ""
    if step.forbidden and error.code is ErrorCode.FORBIDDEN_FUNCTION:
        return Explanation(truth, Cause.LIBRARY, rule(step.forbidden), where=where)
    if error.code is ErrorCode.OUTPUT_LIMIT:
        return Explanation(truth, Cause.PRINTED, where=where)
    if error.code is ErrorCode.CANNOT_CROSS:
        return Explanation(truth, Cause.NO_VALUE, "" if step.is_hidden else printable(error.message))
    if step.is_hidden:
        # Its text may hold numbers of the test, and so may an invented name.
        name = error.kind if error.kind in KINDS else "an error"
        return Explanation(truth, Cause.RAISED, error=name, where=where)
    return Explanation("", Cause.RAISED, printable(error.message), printable(error.name), where)


def where_raised(error: ErrorInfo, cells: dict[str, str], step: Step) -> Where | None:
    """Return the innermost line of a student's cell that an exception came from, for a test or a cell."""
    # The sandbox gives only a position, and the text of the line comes from the notebook: a text from the sandbox could
    # hold numbers of a hidden test. So could a position, so a hidden test names only lines of its exercise.
    frames = [(frame.cell.strip("<>"), frame.line) for frame in error.frames]
    if step.is_hidden:
        frames = [(cell, line) for cell, line in frames if cell == step.exercise]
    for cell, line in frames[-1:]:
        # Not splitlines(), which also splits at characters that do not end a line for Python.
        lines = cells.get(cell, "").split("\n")[: LAST_LINE if step.is_hidden else None]
        if 1 <= line <= len(lines):
            return Where(cell, line, printable(lines[line - 1].strip(), MAX_LINE))
    return None


def _is_authors(error: AssertionError, step: Step) -> bool:
    """Return whether the author wrote the message of an assertion, in an assert or as a msg for torch.testing.

    A message that repeats a caught exception of student code does not count.
    """
    caught = str(error.__context__) if isinstance(error.__context__, StudentError) else ""
    if caught and caught in str(error):
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if frame.f_globals.get("__name__") == "torch.testing._comparison":
        msg = frame.f_locals.get("msg")
        return isinstance(msg, str) and msg == str(error)
    return frame.f_code.co_filename == f"<{step.name}>"


def truth_of(step: Step) -> str:
    """Return the opening comment of a test."""
    opening = takewhile(lambda line: line.startswith("# "), step.source.splitlines())
    return " ".join(line[2:].strip() for line in opening)
