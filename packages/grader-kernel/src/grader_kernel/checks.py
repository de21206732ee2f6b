"""Shows the result of a check in a student's notebook as a sentence, not as a traceback through its code.

    released check or hidden test -> its first line names the exercise -> a line or an error that reads like a sentence

contract.py defines this line, which `grader release` writes. Other cells and the instructors' notebooks look as usual.
Only the display changes: for the kernel, and for programs that run a notebook, a failed check is still an error.
A blank as it was released is plain text in a front end. Programs get an error output: without one, nbgrader gives full
points to a test.
"""

import linecache
import re
import sys
import textwrap
import traceback
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING

from grader_kernel.contract import CHECK, HIDDEN_TEST
from grader_kernel.running import is_watched
from grader_kernel.unfit import compared_dtypes

if TYPE_CHECKING:
    # The grader's processes import this package too, and have no kernel.
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython.core.interactiveshell import ExecutionResult

WIDTH = 88
"""Characters that fit into a line of a cell's output on a small screen."""
BOLD, GREEN, END = "\x1b[1m", "\x1b[32m", "\x1b[0m"
"""Green is readable on light and dark pages, grey is not. Errors have a red background, so their text has no colour."""
BLANK = "# YOUR CODE HERE", "raise NotImplementedError()"
"""The lines that nbgrader releases in place of a solution; a student may write between them."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def install(shell: "ZMQInteractiveShell") -> None:
    """Make a kernel show the results of checks as sentences; a second call changes nothing.

    Args:
        shell: the kernel's shell.
    """
    shell.set_custom_exc((Exception,), _show_error)
    shell.events.register("post_run_cell", _show_success)


def _show_success(result: "ExecutionResult") -> None:
    source = result.info.raw_cell if result.info else None
    if not result.success or not isinstance(source, str):
        return
    if check := CHECK.match(source):
        print(f"{GREEN}✓{END} {check[1]}: the visible check passes.")


def _show_error(
    shell: "ZMQInteractiveShell",
    kind: type[Exception],
    error: Exception,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show the error that ended a cell; IPython calls this instead of its own method."""
    calls = _calls(trace)
    in_cells = [call for call in calls if _place(shell, call)]
    check = CHECK.match(_first_line(in_cells[0])) if in_cells else None
    is_blank = kind is NotImplementedError and not error.args and in_cells[-1:] == calls[-1:]
    if not check and not is_blank:
        shell.showtraceback(tb_offset=tb_offset, running_compiled_code=bool(in_cells))
        return
    # %tb and %debug look here for the error.
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    if is_blank:
        lines = _not_written(shell, check[1] if check else "", calls[-1])
        if is_watched(shell) and _is_as_released(calls[-1]):
            print(COLOUR.sub("", "\n".join(lines)))
        else:
            shell._showtraceback(kind, error, lines)
    elif check:
        lines = [f"{BOLD}✗ {check[1]} · not right yet{END}", "", *_explained(shell, kind, error, calls)]
        shell._showtraceback(kind, error, lines)
        _fold(shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset))


def _not_written(shell: "ZMQInteractiveShell", exercise: str, call: TracebackType) -> list[str]:
    """Return the message about a blank, which may be one of several or belong to an earlier exercise."""
    function = call.tb_frame.f_code.co_qualname
    blank = _place(shell, call) if function == "<module>" else function
    says = "still says `raise NotImplementedError()`."
    return [f"{BOLD}○ Not written yet: {exercise or blank}.{END}", f"{blank if exercise else 'It'} {says}"]


def _is_as_released(call: TracebackType) -> bool:
    """Return whether a call is at the last line of a blank, below its comment and as far indented."""
    comment, last = BLANK
    *above, line = linecache.getlines(call.tb_frame.f_code.co_filename)[: call.tb_lineno] or [""]
    return line.strip() == last and line.replace(last, comment).rstrip() in map(str.rstrip, above)


def _explained(
    shell: "ZMQInteractiveShell", kind: type[Exception], error: Exception, calls: list[TracebackType]
) -> list[str]:
    """Return the lines that explain a failed check: its own message or the error, and the student's code."""
    students = [call for call in calls if _place(shell, call) and not _is_test(call)]
    if isinstance(error, AssertionError) and (not students or _is_of_kernel(calls[-1])):
        lines = _wrapped(str(error) or f"This does not hold: {_code(calls[-1])}")
        for call in students[-1:]:
            lines += ["", f"Your code was at {_place(shell, call)}, line {call.tb_lineno}:", f"    {_code(call)}"]
        return lines
    name = traceback.format_exception_only(kind, error)[-1].strip()
    if students:
        lines = _wrapped(f"Your code raised {name}")
        return [*lines, "", *shell.InteractiveTB.structured_traceback(kind, error, _chain(students), tb_offset=0)]
    if isinstance(error, NameError):
        question = "Is it defined above, and did you run the cells from the top?"
        return _wrapped(f"{error.name} is not defined here. {question}")
    if sentence := compared_dtypes(error):
        return _wrapped(sentence)
    last = [call for call in calls if _is_test(call)][-1]
    return _wrapped(f"The check could not go on: {_code(last)} raised {name}")


def _fold(lines: list[str]) -> None:
    from IPython.display import display

    text = COLOUR.sub("", "\n".join(lines))
    page = (
        f"<details><summary>The full traceback, with the code of the check</summary><pre>{escape(text)}</pre></details>"
    )
    display({"text/html": page, "text/plain": "%tb shows the full traceback."}, raw=True)


def _calls(trace: TracebackType | None) -> list[TracebackType]:
    """Return the calls of a traceback, outermost first."""
    calls = []
    while trace is not None:
        calls.append(trace)
        trace = trace.tb_next
    return calls


def _chain(calls: list[TracebackType]) -> TracebackType | None:
    """Return a traceback of only these calls."""
    trace = None
    for call in reversed(calls):
        trace = TracebackType(trace, call.tb_frame, call.tb_lasti, call.tb_lineno)
    return trace


def _place(shell: "ZMQInteractiveShell", call: TracebackType) -> str:
    """Return the cell of a call, such as "Cell In[3]"; '' for a call outside the notebook."""
    return " ".join(shell.compile.format_code_name(call.tb_frame.f_code.co_filename) or ())


def _first_line(call: TracebackType) -> str:
    return linecache.getline(call.tb_frame.f_code.co_filename, 1)


def _is_test(call: TracebackType) -> bool:
    return bool(CHECK.match(_first_line(call)) or HIDDEN_TEST.match(_first_line(call)))


def _is_of_kernel(call: TracebackType) -> bool:
    """Return whether a call is in a check, or in this package, which raises on behalf of checks."""
    return _is_test(call) or call.tb_frame.f_globals.get("__name__", "").startswith(f"{__package__}.")


def _code(call: TracebackType) -> str:
    """Return the expression that a call is evaluating, or the first line of its statement."""
    (place,) = traceback.extract_tb(_chain([call]))
    line = linecache.getline(place.filename, place.lineno or 0)
    if place.lineno == place.end_lineno and place.end_colno is not None:
        # Columns count bytes.
        return line.encode()[place.colno : place.end_colno].decode()
    return line.strip()


def _wrapped(message: str) -> list[str]:
    """Wrap a message for the output of a cell. Tables keep their columns."""
    return [
        part
        for line in message.splitlines()
        for part in textwrap.wrap(line, WIDTH, replace_whitespace=False, break_long_words=False, break_on_hyphens=False)
        or [""]
    ]
