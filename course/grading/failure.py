"""What went wrong in somebody's code, said so that it can cross to another process and be shown to a person."""

import builtins
import traceback
from typing import Any

from course.grading.text import MAX_MESSAGE

MAX_LINE = 200
"""Characters of a line of code, or of a name, that are kept."""
MAX_FRAMES = 8
"""Lines of the student's cells that are kept, the innermost ones."""


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as plain data: its nearest built-in kind, its own name and message, and where in the cells it arose.

    Frames are (cell, line number, line), only those in cells: what lies in libraries helps no student.
    """
    kind = next(kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind)
    # To look up the lines of libraries would take longer than many a cell.
    own = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<")
    ]
    frames = [
        [frame.filename[:MAX_LINE], frame.lineno, (frame.line or "")[:MAX_LINE]]
        for frame in traceback.StackSummary.extract(own[-MAX_FRAMES:])
    ]
    return {
        "kind": kind,
        "name": type(error).__name__[:MAX_LINE],
        "message": _message(error),
        "frames": frames,
    }


def bounded(said: Any) -> dict[str, Any]:
    """What another process says of an exception, as describe() says it: nothing else, and nothing longer."""
    said = said if isinstance(said, dict) else {}
    frames = said.get("frames")
    places = [
        [_text(frame[0], MAX_LINE), frame[1], _text(frame[2], MAX_LINE)]
        for frame in (frames[-MAX_FRAMES:] if isinstance(frames, list) else ())
        if isinstance(frame, list) and len(frame) == 3 and type(frame[1]) is int
    ]
    return {
        "kind": _text(said.get("kind"), MAX_LINE),
        "name": _text(said.get("name"), MAX_LINE),
        "message": _text(said.get("message"), MAX_MESSAGE),
        "frames": places,
    }


def _text(said: Any, characters: int) -> str:
    return said[:characters] if isinstance(said, str) else ""


def _message(error: BaseException) -> str:
    try:
        return str(error)[:MAX_MESSAGE]
    except BaseException:
        return "(its message cannot be shown)"
