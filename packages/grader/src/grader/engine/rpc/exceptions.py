"""Describes exceptions of student code as data that can cross to another process and be shown to a person."""

import builtins
import dis
import traceback
from typing import Any

import numpy

from grader.engine.report import Verdict
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.paths import without_paths
from grader.engine.rpc.protocol import MAX_FRAMES, MAX_LINE, ErrorCode, ErrorInfo, Frame
from grader.text import MAX_MESSAGE

VERDICTS = {ErrorCode.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT, ErrorCode.OUT_OF_MEMORY: Verdict.OUT_OF_MEMORY}
"""Verdicts on tests by the exceptions that ended them; for all other exceptions it is `error`."""
OF_LIBRARIES: dict[str, type[BaseException]] = {"LinAlgError": numpy.linalg.LinAlgError}
"""Classes of libraries that tests expect, by name: like built-in ones, they are the same in both processes."""
RAISE = dis.opmap["RAISE_VARARGS"]
"""The instruction of a raise statement. A re-raise leaves no entry of its own in a traceback."""
ALLOCATION = ("can't allocate memory", "not enough memory")
"""Parts of the messages of the RuntimeError with which torch reports a failed allocation."""


class OutputLimit(BaseException):
    """A submission printed more than it may."""


class ForbiddenFunction(RuntimeError):
    """Student code called a function of a library that does the work of the exercise."""


def verdict_on(error: ErrorInfo) -> Verdict:
    """Return the verdict on a test that this exception ended."""
    return VERDICTS.get(error.code, Verdict.ERROR)


def to_data(error: BaseException) -> ErrorInfo:
    """Return a description of an exception.

    It holds only the frames in cells, whose file names begin with `<`: frames in libraries help no student.
    """
    kind = next(kind.__name__ for kind in type(error).__mro__ if known_class(kind.__name__) is kind)
    # Looking up the source lines of libraries would take longer than many a cell.
    cell_frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<")
    ]
    frames = [
        Frame(_encodable(frame.filename, MAX_LINE), frame.lineno or 0, _encodable(frame.line or "", MAX_LINE))
        for frame in traceback.StackSummary.extract(iter(cell_frames[-MAX_FRAMES:]))
    ]
    name = _encodable(type(error).__name__, MAX_LINE)
    return ErrorInfo(kind=kind, name=name, message=_message(error), frames=frames, code=_code(error))


def known_class(name: str) -> Any:
    """Return the built-in object with this name, or the known class of a library; None if there is neither."""
    return OF_LIBRARIES.get(name) or getattr(builtins, name, None)


def _code(error: BaseException) -> ErrorCode:
    """Classify an exception. Only the grader's own classes and Python's count: student code can choose any name."""
    if type(error) is OutputLimit:
        return ErrorCode.OUTPUT_LIMIT
    if type(error) is ForbiddenFunction:
        return ErrorCode.FORBIDDEN_FUNCTION
    if type(error) is ProtocolError:
        return ErrorCode.CANNOT_CROSS
    if isinstance(error, MemoryError) or _is_failed_allocation(error):
        return ErrorCode.OUT_OF_MEMORY
    return ErrorCode.RAISED


def _is_failed_allocation(error: BaseException) -> bool:
    """Return whether torch itself reports a failed allocation, for which it has no exception class."""
    if type(error) is not RuntimeError or not any(part in _message(error) for part in ALLOCATION):
        return False
    return not _was_raised_by_statement(error)


def _was_raised_by_statement(error: BaseException) -> bool:
    """Return whether a raise statement raised the exception, rather than a library function in C++.

    `co_code` holds the instructions as compiled, even while the interpreter runs specialised or traced ones, and
    `tb_lasti` is the offset of the one that raised. Student code can forge a traceback with any offset.
    """
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or innermost.tb_lasti < 0:
        return False
    code = innermost.tb_frame.f_code.co_code
    return innermost.tb_lasti < len(code) and code[innermost.tb_lasti] == RAISE


def _encodable(text: str, characters: int) -> str:
    return text[:characters].encode(errors="replace").decode()


def _message(error: BaseException) -> str:
    try:
        return _encodable(without_paths(str(error)), MAX_MESSAGE)
    except BaseException:
        return "(its message cannot be shown)"
