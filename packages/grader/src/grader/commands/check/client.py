"""Has a warm process run `grader check`, so that this one loads nothing slow.

    client --arguments, working folder, environment, its own streams--> daemon --fork--> a process that checks
           <--started, exit status-------------------------------------------------------+

The process that checks writes to the client's own terminal or pipe. If the daemon fails in any way, the client's
process does the work itself.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.classroom.course_root import CONFIG_FILE, course_of, is_known
from grader.commands.check import protocol
from grader.text import HOW_TO_CONTINUE, INTERRUPTED

START_SECONDS = 60
"""Seconds that a daemon may take to start."""
ANSWER_SECONDS = 30
"""Seconds that a daemon, which may still be loading its modules, may take to accept a request."""
RETRY_SECONDS = 0.02
BUSY = 75
"""Exit status of a daemon if the course already has one."""
MAIN = "import sys; sys.path[:] = {path!r}; from grader.commands.check.daemon import main; main({course!r})"


class _Gone(Exception):
    """The daemon ended before it accepted the request: it was idle, or a module has changed."""


def run(arguments: list[str]) -> int | None:
    """Have a daemon run the command, and return its exit status; None if this process must run it itself.

    Args:
        arguments: the command line without the program.
    """
    if any(argument.startswith("--no-d") for argument in arguments) or not protocol.idle_seconds():
        return None
    try:
        here = Path.cwd()
        course = course_of(here)
        if not (course / CONFIG_FILE).exists() or not is_known(course):
            return None  # a daemon runs the configuration, and cannot ask
        encodings = [(stream.encoding, stream.errors or "strict") for stream in (sys.stdin, sys.stdout, sys.stderr)]
        request = protocol.Request(arguments, str(here), dict(os.environ), encodings)
        return _asked(request, course)
    except (OSError, AttributeError):
        return None  # no private folder, or a stream is closed
    except KeyboardInterrupt:
        print(HOW_TO_CONTINUE, file=sys.stderr)
        return INTERRUPTED


def _asked(request: protocol.Request, course: Path) -> int | None:
    folder = protocol.open_folder()
    try:
        path, _ = protocol.paths(folder, course)
        start = _Start(course)
        while (connection := _connected(path, start)) is not None:
            with connection, suppress(_Gone):
                return _answer(connection, request)
    finally:
        os.close(folder)
    return None


class _Start:
    """Starts a daemon if none answers, repeatedly until the time is over."""

    def __init__(self, course: Path) -> None:
        self._course = course
        self._end = time.monotonic() + START_SECONDS
        self._process: subprocess.Popen[bytes] | None = None

    def goes_on(self) -> bool:
        """Start a daemon unless one is starting; return False if none will answer."""
        if self._process is None or self._process.poll() == BUSY:
            main = MAIN.format(path=protocol.search_path(), course=str(self._course))
            self._process = subprocess.Popen(
                [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", main],  # type: ignore[attr-defined]
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd="/", start_new_session=True,
            )  # fmt: skip
        # A daemon that ended as busy makes way for another, which may answer soon; a broken one would fail again.
        return self._process.poll() in (None, BUSY) and time.monotonic() < self._end


def _connected(path: str, start: _Start) -> socket.socket | None:
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            if protocol.is_own(connection):
                return connection
        except (FileNotFoundError, ConnectionRefusedError):
            pass
        connection.close()
        if not start.goes_on():
            return None
        time.sleep(RETRY_SECONDS)


def _answer(connection: socket.socket, request: protocol.Request) -> int | None:
    connection.settimeout(ANSWER_SECONDS)
    try:
        protocol.send(connection, request)
        if connection.recv(1) != protocol.STARTED:
            raise _Gone
    except TimeoutError:
        return None
    except ConnectionError:
        raise _Gone from None
    connection.settimeout(None)
    with _interrupts_passed_on(connection) as interrupts, suppress(ConnectionError):
        if status := connection.recv(1):
            return status[0]
    # The process that checked is gone. Do its work here, unless a person interrupted it.
    return INTERRUPTED if interrupts else None


@contextmanager
def _interrupts_passed_on(connection: socket.socket) -> Iterator[list[int]]:
    """Send the first Ctrl-C to the process that checks, which cleans up; the second ends this process."""
    interrupts: list[int] = []

    def pass_on(number: int, _: object) -> None:
        interrupts.append(number)
        if len(interrupts) > 1:
            raise KeyboardInterrupt
        with suppress(OSError):
            connection.send(protocol.INTERRUPT)

    previous = signal.signal(signal.SIGINT, pass_on)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, previous)
