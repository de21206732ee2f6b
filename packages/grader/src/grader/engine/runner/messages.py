"""Explains why a test gave no points. For a hidden test, it gives the checked property and no code.

exception, step, cells --> Explanation

A hidden test opens with a comment that states what it checks; the release shows it, too. Assertion messages are written
for students. Everything else in a hidden test (code, traceback, values in error messages) stays in the grader.
"""

import builtins
import re
from itertools import takewhile
from traceback import walk_tb

from grader.engine.explanation import Cause, Explanation, Where
from grader.engine.notebook.plan import Step
from grader.engine.rpc.protocol import MAX_LINE, ErrorCode, ErrorInfo
from grader.engine.runner.standins.proxies import StudentError
from grader.text import printable
from grader_kernel.without import rule

KINDS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}
UNFIT = {
    "does not require grad": "no gradient comes back through it.",
    "did not match|dtype": "is its dtype the one that is asked for?",
    "must match|shapes|sizes|invalid for input": "is its shape the one that is asked for?",
}
"""Hints by patterns of torch's error messages, which themselves might reveal values of the test."""
LAST_LINE = 200
"""Highest line number in the message of a hidden test. In a longer cell, a student could encode values in it."""


def explain_test(step: Step, error: Exception) -> Explanation:
    """Return the explanation of an exception that the test itself raised.

    Args:
        step: the test.
        error: its exception: the test failed or could not continue.
    """
    text, truth = printable(error).strip(), truth_of(step) if step.is_hidden else ""
    if name := missing_name(error):
        return Explanation(cause=Cause.UNDEFINED, missing=name)
    if isinstance(error, AssertionError):
        # A library's message (torch.testing) gives values of the test; the author's is written for students.
        return Explanation(truth, Cause.PROPERTY, text if not step.is_hidden or _is_authors(error, step) else "")
    got_none = isinstance(error, AttributeError | TypeError) and "NoneType" in text
    if step.is_hidden:
        return Explanation(truth, Cause.UNUSABLE, _question(text), got_none=got_none)
    return Explanation(truth, Cause.TEST_ERROR, text, type(error).__name__, got_none=got_none)


def _question(text: str) -> str:
    """Return the probable fault of a result for which torch raised an error with this text, or ''."""
    return next((question for pattern, question in UNFIT.items() if re.search(pattern, text)), "")


def missing_name(error: Exception) -> str:
    """Return the name that another cell should have defined, if that raised the exception; otherwise ''."""
    return error.name or "" if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) else ""


def is_not_written(error: ErrorInfo) -> bool:
    """Return whether an exception is the `raise NotImplementedError()` of a blank.

    The line may be left over below an answer, or belong to another exercise that this one calls; its position tells
    which.
    """
    return error.kind == "NotImplementedError" and not error.message


def explain_raise(step: Step, error: ErrorInfo, cells: dict[str, str]) -> Explanation:
    """Return the explanation of an exception that student code raised while a test called it.

    Args:
        step: the test.
        error: the exception of the student's code.
        cells: the sources of all cells by name.
    """
    where = _where(error, cells, step)
    if is_not_written(error):
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


def _where(error: ErrorInfo, cells: dict[str, str], step: Step) -> Where | None:
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
    *_, (frame, _) = walk_tb(error.__traceback__)
    if frame.f_globals.get("__name__") == "torch.testing._comparison":
        msg = frame.f_locals.get("msg")
        return isinstance(msg, str) and msg == str(error)
    return frame.f_code.co_filename == f"<{step.name}>"


def truth_of(step: Step) -> str:
    """Return the opening comment of a test."""
    opening = takewhile(lambda line: line.startswith("# "), step.source.splitlines())
    return " ".join(line[2:].strip() for line in opening)
