"""Runs the cells of a notebook outside a kernel, and captures their output and exceptions."""

import __future__

import ast
import asyncio
import builtins
import inspect
import io
import linecache
import marshal
import selectors
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import matplotlib
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from grader.engine.notebook.cells import FORMS, PICTURES
from grader.engine.notebook.magics import CALL, TOP_LEVEL_AWAIT
from grader.engine.rpc.exceptions import OutputLimit, to_data
from grader.engine.rpc.paths import without_paths
from grader.engine.rpc.protocol import CellDone, Display, Text
from grader.engine.sandbox import machine

UNSEEN = 100
"""Factor by which output may exceed the limit while tests call student code repeatedly; it is not shown."""
FUTURE = __future__.annotations.compiler_flag
KEPT = 1024
"""Compiled cells that a process keeps: a runner runs the same tests for every student."""

POLL_SECONDS = 0.01
"""How long the loop of the cells waits for descriptors before it looks whether another thread has woken it."""


class Code(NamedTuple):
    """A compiled cell: its statements, and the expression at its end, if there is one."""

    body: CodeType
    last: CodeType | None


@lru_cache(maxsize=KEPT)
def compiled(source: str, name: str, flags: int = TOP_LEVEL_AWAIT) -> Code:
    """Return the compiled cell.

    Args:
        source: the cell.
        name: tracebacks call the cell `<name>`.
        flags: those of `compile`.

    Raises:
        Exception: whatever `compile` raises.
    """
    filename = f"<{name}>"
    tree = ast.parse(source, filename)
    last = None
    if tree.body and isinstance(statement := tree.body[-1], ast.Expr):
        del tree.body[-1]
        last = ast.Expression(statement.value)
    body = compile(tree, filename, "exec", flags)
    return Code(body, None if last is None else compile(last, filename, "eval", flags))


@lru_cache(maxsize=KEPT)
def compiled_bytes(source: str, name: str) -> bytes:
    """Return the compiled cell for another process of the same Python; empty if the cell is not plain Python.

    This is for instructor cells only, because a crafted source can crash the compiler.

    Args:
        source: the cell.
        name: tracebacks call the cell `<name>`.
    """
    try:
        return marshal.dumps(tuple(compiled(source, name)))
    except (SyntaxError, ValueError):
        return b""


def execute(source: str, name: str, namespace: dict[str, Any], code: Code | None = None) -> Any:
    """Run one cell and return the value of the expression at its end, or None if it ends with a statement.

    Args:
        source: the cell, as Python.
        name: tracebacks call the cell `<name>`, and show its lines.
        namespace: the names that the cell reads and binds.
        code: the compiled cell, if available.

    Raises:
        Exception: whatever the cell raises.
    """
    _remember(source, name)
    ready = code or compiled(source, name)
    if CALL in source:
        with _in_ipython(namespace):
            return _value(ready, namespace)
    return _value(ready, namespace)


def _value(code: Code, namespace: dict[str, Any]) -> Any:
    value = None
    for part in filter(None, code):
        value = eval(part, namespace)
        if part.co_flags & inspect.CO_COROUTINE:
            value = asyncio.run(value)
    return value


@contextmanager
def _in_ipython(namespace: dict[str, Any]) -> Iterator[None]:
    """Let magics read and bind the names of an instructor's cell, and raise what IPython would only print.

    A cell that is a program of another language raises, too: it is not run, and a test must not pass by that.
    """
    shell, raised = InteractiveShell.instance(), list[BaseException]()
    run_cell_magic = shell.run_cell_magic

    def keep(*_: Any, **__: Any) -> None:
        if (error := sys.exc_info()[1]) is not None:
            raised.append(error)

    def run(magic: str, line: str, cell: str) -> Any:
        if magic in machine.SCRIPT_MAGICS:
            raise RuntimeError(f"the grader runs no commands, so no %%{magic}")
        return run_cell_magic(magic, line, cell)

    replaced = {"run_cell_magic": run, "showtraceback": keep, "showsyntaxerror": keep, "showindentationerror": keep}
    before = shell.user_ns
    shell.user_ns = namespace
    for name, method in replaced.items():
        setattr(shell, name, method)
    try:
        yield
        for error in raised[:1]:
            raise error
    finally:
        shell.user_ns = before
        for name in replaced:
            delattr(shell, name)


def _remember(source: str, name: str) -> None:
    """Have tracebacks show the lines of a cell."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)


class Shell:
    """A namespace in which cells run as in a notebook: with `display`, magics, `await`, and a limit on what they print.

    It replaces the process's stdin, stdout and stderr permanently. Output between cells, while a test calls student
    code, is counted and dropped.

    Args:
        output_characters: characters that all cells together may print.
    """

    def __init__(self, output_characters: int) -> None:
        self._loop = _Loop()
        self._shell = InteractiveShell.instance()
        # IPython's own namespace, because IPython itself runs the code under %%time or %%capture.
        self.namespace: dict[str, Any] = self._shell.user_ns
        self.namespace.clear()
        self._shell.user_ns_hidden.clear()
        self.namespace["__name__"] = "__main__"
        # In, Out, _dh, exit; then _ and its like; without what another Shell of this process has kept.
        self._shell.execution_count = 1
        self._shell.init_history()
        self._shell.init_user_ns()
        self._shell.init_displayhook()
        self._publisher = self._shell.display_pub = CapturingDisplayPublisher()
        self._printed = sys.stdout = sys.stderr = _Capped(output_characters)
        sys.stdin = _Unattended()
        self._flags = TOP_LEVEL_AWAIT

    def run(self, source: str, name: str, code: bytes = b"") -> CellDone:
        """Run one cell and return its outputs and its exception.

        Args:
            source: the cell, with its magics.
            name: tracebacks call the cell `<name>`.
            code: the compiled cell from `compiled_bytes`, if available.
        """
        shown = self._publisher.outputs
        shown.clear()
        self._printed.kept = []
        _, raised = self._end_of(source, name, code)
        error = None if raised is None else to_data(raised)
        text, self._printed.kept = "".join(self._printed.kept), None
        outputs: list[Text | Display] = [Text(text=_encodable(without_paths(text)))] if text else []
        for show in shown:
            # Pictures are text too (base64). A part that is longer than the output limit is left out.
            parts = {form: part for form, part in show["data"].items() if self._fits(part)}
            texts = {form: without_paths(part) for form, part in parts.items() if form not in PICTURES}
            outputs.append(Display(data={form: _encodable(part) for form, part in (parts | texts).items()}))
        return CellDone(outputs=outputs, error=error)

    def run_test(self, source: str, name: str, code: bytes) -> tuple[Any, BaseException | None]:
        """Run a test below the cells, drop its output, and return the value of its last line or what ended it.

        Args:
            source: the test, with its magics.
            name: tracebacks call it `<name>`.
            code: the compiled test from `compiled_bytes`, or nothing.
        """
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")  # a kernel does so at the end of each cell
        self._publisher.outputs.clear()
        return self._end_of(source, name, code)

    def _end_of(self, source: str, name: str, code: bytes) -> tuple[Any, BaseException | None]:
        """Run one cell; return the value of its last line, or the exception that ended it."""
        ends: list[tuple[Any, BaseException | None]] = []

        async def to_its_end() -> None:
            ends.append(await self._run(source, name, code))

        try:
            self._loop.run_until_complete(to_its_end())
        except BaseException as raised:  # the student stopped the loop
            ends.append((None, raised))
        # The loop's own result is not taken: student code can end a task before its coroutine has ended.
        return ends[0] if ends else (None, RuntimeError("the cell did not run to its end"))

    async def _run(self, source: str, name: str, code: bytes) -> tuple[Any, BaseException | None]:
        """Do the work of `_end_of`. Raised from here, a StopIteration would become another exception."""
        shell = self._shell
        try:
            assert shell.history_manager is not None and shell.display_formatter is not None
            shell.history_manager.store_inputs(shell.execution_count, source, source)
            # A student's future import changes the meaning of later cells, which were compiled without it.
            if code and not self._flags & FUTURE:
                ready = Code(*marshal.loads(code))  # safe in the sandbox, which may run whatever the runner sends
            else:
                source = self._as_python(source, name)
                ready = compiled(source, name, self._flags)
            # As in a notebook, `from __future__ import annotations` also affects later cells.
            self._flags |= ready.body.co_flags & FUTURE
            _remember(source, name)
            value = None
            for part in filter(None, ready):
                value = eval(part, self.namespace)
                if part.co_flags & inspect.CO_COROUTINE:
                    value = await value
            if value is not None:
                shell.displayhook.update_user_ns(value)
                self._publisher.outputs.append({"data": shell.display_formatter.format(value)[0]})
        except BaseException as raised:
            return None, raised
        finally:
            shell.execution_count += 1
        return value, None

    def _as_python(self, source: str, name: str) -> str:
        # A single line may be a command without its %, such as `ls`. IPython leaves all other Python unchanged, but
        # takes long to do so.
        if "\n" not in source.strip():
            return self._shell.transform_cell(source)
        try:
            compiled(source, name, self._flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return self._shell.transform_cell(source)
        return source

    def _fits(self, part: Any) -> bool:
        return isinstance(part, str) and len(part) <= self._printed.limit


def _encodable(text: str) -> str:
    """Replace each half of a surrogate pair by ?, because neither a message nor a file can hold it."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def prepare() -> None:
    """Prepare this process for Shell once, before it is confined or forked."""
    # No history, because there is no folder for it, and no %matplotlib, because there is no window.
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    # Only the MIME types that a page shows.
    assert shell.display_formatter is not None
    shell.display_formatter.active_types = list(FORMS)
    shell.magics_manager.register_function(lambda line: None, magic_name="matplotlib")
    machine.replace_in_ipython(shell)
    sys.breakpointhook = _refuse_debugger
    # Magics become calls of get_ipython, which a kernel would put into every namespace.
    vars(builtins)["get_ipython"] = InteractiveShell.instance
    matplotlib.use("module://matplotlib_inline.backend_inline")


def _refuse_debugger(*_: Any, **__: Any) -> None:
    raise EOFError("no one is at the keyboard during grading: leave breakpoint() out")


class _Loop(asyncio.SelectorEventLoop):
    """Runs cells as a kernel's loop does, and has no descriptors, because a confined process makes no sockets.

    Another thread wakes it by an event and not through a pair of sockets.
    """

    def __init__(self) -> None:
        self._is_woken = threading.Event()
        super().__init__(_Selector(self._is_woken))

    def __del__(self) -> None:
        pass  # asyncio warns of a loop that was not closed, but this one holds nothing

    def _make_self_pipe(self) -> None:
        pass

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        self._is_woken.set()


class _Selector(selectors.SelectSelector):
    """Waits for an event, and looks at descriptors every POLL_SECONDS while there are any."""

    def __init__(self, is_woken: threading.Event) -> None:
        super().__init__()
        self._is_woken = is_woken

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.get_map():
            return super().select(POLL_SECONDS if timeout is None else min(timeout, POLL_SECONDS))
        self._is_woken.wait(timeout)
        self._is_woken.clear()
        return []


class _Unattended(io.TextIOBase):
    """Standard input with no one at the keyboard."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # as in io.TextIOBase
        raise EOFError("no one is at the keyboard during grading: leave input() out")


class _Capped(io.TextIOBase):
    """A file that keeps its input while `kept` is a list, and raises OutputLimit at the limit."""

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
