"""Running the cells of a notebook outside a kernel: what a cell prints, shows and raises, as nbformat outputs."""

import __future__

import builtins
import io
import linecache
import sys
from typing import Any

import matplotlib
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from course.grading.code import Code, compiled, from_text
from course.grading.failure import describe
from course.grading.notebook import FORMS

UNSEEN = 100
"""So many times as much may be printed while tests call student code, again and again: nobody is shown it."""
FUTURE = __future__.annotations.compiler_flag


class OutputLimit(BaseException):
    """More was printed than a submission may print."""


def execute(source: str, name: str, namespace: dict[str, Any], code: Code | None = None) -> Any:
    """Runs the Python of one cell in `namespace`; returns the value of its last line if that is an expression.

    Tracebacks call the cell `<name>` and show its lines. Who has compiled it already hands over its `code`. Raises
    whatever the cell raises.
    """
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    most, last = code or compiled(source, name)
    exec(most, namespace)
    return None if last is None else eval(last, namespace)


class Shell:
    """A namespace in which cells run as in a notebook, with `display`, magics and a cap on what they print.

    It takes the process's stdin, stdout and stderr for good: what is printed between cells, when a test calls student
    code, is counted and dropped.
    """

    def __init__(self, output_characters: int) -> None:
        self._shell = InteractiveShell.instance()
        # IPython's own, for what stands under %%time or %%capture is run by IPython.
        self.namespace: dict[str, Any] = self._shell.user_ns
        self.namespace.clear()
        self.namespace["__name__"] = "__main__"
        self._shell.display_pub = CapturingDisplayPublisher()
        self._printed = sys.stdout = sys.stderr = _Capped(output_characters)
        sys.stdin = _Unattended()
        self._flags = 0

    def run(self, source: str, name: str, code: str = "") -> dict[str, Any]:
        """Runs one cell; returns its `outputs` and, under `raised`, the exception it ended with or None.

        `code` is what code.as_text says of the cell, if it was asked.
        """
        raised, shown = None, self._shell.display_pub.outputs
        shown.clear()
        self._printed.kept = []
        try:
            # With a future of the student's in force, no cell is what it was without.
            if code and not self._flags:
                ready = from_text(code)
            else:
                source = self._as_python(source, name)
                ready = compiled(source, name, self._flags)
            # As in a notebook, `from __future__ import annotations` holds for the cells behind it, too.
            self._flags |= ready.most.co_flags & FUTURE
            value = execute(source, name, self.namespace, ready)
            if value is not None:
                shown.append({"data": self._shell.display_formatter.format(value)[0]})
        except BaseException as error:
            raised = describe(error)
        text, self._printed.kept = "".join(self._printed.kept), None
        outputs = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
        for show in shown:
            # A picture is text here too (base64); what is longer than all that may be printed is left out.
            data = {kind: part for kind, part in show["data"].items() if self._fits(part)}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        return {"outputs": outputs, "raised": raised}

    def _as_python(self, source: str, name: str) -> str:
        # What Python understands, IPython leaves as it is, and takes its time to find out.
        try:
            compiled(source, name, self._flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return self._shell.transform_cell(source)
        return source

    def _fits(self, part: Any) -> bool:
        return isinstance(part, str) and len(part) <= self._printed.limit


def prepare() -> None:
    """Makes the process ready for Shell: once, before it is confined or forked."""
    # Without a folder to write to there is no history; without a window there is no GUI hook for %matplotlib.
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    # It need not try the forms of a value that no page shows.
    shell.display_formatter.active_types = list(FORMS)
    shell.register_magic_function(lambda line: None, magic_name="matplotlib")
    shell.system = shell.getoutput = _refuse_program
    sys.breakpointhook = _refuse_debugger
    # A magic is a call of it; a kernel would put it into every namespace.
    builtins.get_ipython = InteractiveShell.instance
    matplotlib.use("module://matplotlib_inline.backend_inline")


def _refuse_program(*_: Any, **__: Any) -> None:
    raise PermissionError("programs do not run while this is graded: leave the line out, or give it a cell of its own")


def _refuse_debugger(*_: Any, **__: Any) -> None:
    raise EOFError("nobody types while this is graded: leave breakpoint() out")


class _Unattended(io.TextIOBase):
    """A keyboard with nobody at it."""

    def readline(self, size: int = -1) -> str:
        raise EOFError("nobody types while this is graded: leave input() out")


class _Capped(io.TextIOBase):
    """A file that keeps what is written while `kept` is a list and raises OutputLimit once it was too much."""

    encoding = "utf-8"

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kept: list[str] | None = None
        self._room, self._unseen_room = limit, UNSEEN * limit

    def write(self, text: str) -> int:
        if self.kept is None:
            self._unseen_room -= len(text)
        else:
            self._room -= len(text)
            self.kept.append(text)
        if min(self._room, self._unseen_room) < 0:
            raise OutputLimit(f"more than {self.limit} characters were printed")
        return len(text)
