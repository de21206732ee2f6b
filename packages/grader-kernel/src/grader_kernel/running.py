"""Shows below a cell that runs for more than a few seconds how far it is; nothing of it stays.

a cell's loops --with_progress()--> turns --after 3 seconds, twice a second--> a line with a bar, or with the time

Only a front end gets the line. Programs that run a notebook, such as nbval and nbgrader, get no output of it.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    # The grader's processes import this package too, and have no kernel.
    from ipykernel.zmqshell import ZMQInteractiveShell

T = TypeVar("T")
PATIENCE = 3.0
"""Seconds that a cell runs before the line appears."""
PAUSE = 0.5
"""Seconds between two states of the line."""
BAR = 20
"""Characters of a full bar."""
_loops: list[tuple[int, int]] = []
"""The loops that are being counted, the outermost first: how many turns are done, and how many there are."""


def with_progress(items: Sequence[T]) -> Iterator[T]:
    """Yield the items of a sequence; while a long cell runs, the line below it says how many are done.

    Args:
        items: what to loop over, for example the steps of a training: `range(400)`.
    """
    depth = len(_loops)
    try:
        for number, item in enumerate(items):
            # A loop within the last turn that was left by `break` may still be there.
            _loops[depth:] = [(number, len(items))]
            yield item
    finally:
        del _loops[depth:]


def install(shell: "ZMQInteractiveShell") -> None:
    """Make a kernel show the line below long cells of a front end.

    Args:
        shell: the kernel's shell.
    """
    lines: list[_Line] = []

    def begin(_: object) -> None:
        end(_)
        # The traceback of an interrupted cell keeps its loops alive.
        _loops.clear()
        if is_watched(shell):
            lines.append(_Line(shell))

    def end(_: object) -> None:
        while lines:
            lines.pop().end()

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", end)


def is_watched(shell: "ZMQInteractiveShell") -> bool:
    """Return whether a front end sent the cell: it names the cell, and programs that run a notebook do not.

    Args:
        shell: the kernel's shell.
    """
    return "cellId" in (shell.get_parent().get("metadata") or {})


class _Line:
    """The line below one cell, written by a thread of its own, since the cell has the kernel's."""

    def __init__(self, shell: "ZMQInteractiveShell") -> None:
        self._publisher: Any = shell.display_pub
        self._parent = shell.get_parent()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, name="line below a long cell", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Take the line away, if there is one."""
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        begin, kind = time.monotonic(), "display_data"
        pause = PATIENCE
        while not self._ended.wait(pause):
            self._send(kind, {"text/plain": _state(time.monotonic() - begin)})
            kind, pause = "update_display_data", PAUSE
        if kind == "update_display_data":
            self._send(kind, {})

    def _send(self, kind: str, data: dict[str, Any]) -> None:
        content = {"data": data, "metadata": {}, "transient": {"display_id": f"running-{id(self)}"}}
        # The publisher's own method would take the parent of this thread.
        to = self._publisher
        to.session.send(to.pub_socket, kind, content, parent=self._parent, ident=to.topic)


def _state(seconds: float) -> str:
    """Return how far the loops are, or for how many seconds the cell has run if it counts none."""
    loops = list(_loops)
    if not loops:
        return f"running for {seconds:.0f} s"
    share, part = 0.0, 1.0
    for done, total in loops:
        part /= total
        share += done * part
    full = int(BAR * share)
    return f"{'█' * full}{'░' * (BAR - full)} " + ", ".join(f"{done} of {total}" for done, total in loops)
