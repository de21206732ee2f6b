"""Stays warm between checks: one process for each course of a user, which has loaded nbgrader and the fork server.

    listen --connection--> fork --> the child takes on the client's streams, folder and environment, and runs `grader`
       |                                                    |
       +-- idle, or a module has changed: end               +-- exit status --> client

The daemon itself reads neither a request nor a notebook. Each check has its own process and leaves nothing behind for
the next.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
import sysconfig
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from jupyter_core.paths import jupyter_config_path

from grader.classroom.config import course_needs_torch, helper_packages, load_config
from grader.commands.check import protocol
from grader.commands.check.client import ANSWER_SECONDS, BUSY
from grader.commands.cli import main as run_command
from grader.engine.code_digest import module_files
from grader.engine.supervisor import forkserver
from grader.files import Stamp, locked, stamp
from grader.text import INTERRUPTED

REAP_SECONDS = 0.5
"""Seconds between two looks for checks that have ended."""
CLEANUP_SECONDS = 10
"""Seconds that a check may take to clean up after its client is gone."""


def main(course: str) -> None:
    """Serve the checks of a course until none was requested for a while.

    Args:
        course: the course folder.
    """
    with ExitStack() as open_files:
        folder = protocol.open_folder()
        open_files.callback(os.close, folder)
        path, lock_path = protocol.paths(folder, Path(course))
        with ExitStack() as serving:
            try:
                lock = serving.enter_context(locked(lock_path))
            except BlockingIOError:
                sys.exit(BUSY)
            with suppress(FileNotFoundError):
                os.unlink(path)  # of a daemon that was killed
            listener = serving.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(path)
            listener.listen()
            serving.callback(Path(path).unlink, missing_ok=True)
            daemon = Daemon(Path(course), listener, lock)
            daemon.serve()
        daemon.wait()


class Daemon:
    """Forks a process for each check.

    Args:
        course: the course folder.
        listener: the socket on which clients connect.
        lock: the descriptor that keeps a second daemon away.
    """

    def __init__(self, course: Path, listener: socket.socket, lock: int) -> None:
        self._listener, self._lock = listener, lock
        forkserver.skip_slow_imports()
        self._course, self._config = course, load_config(course)
        self._helper_packages = helper_packages(self._config)
        self._settings = _settings(course)
        self._file_states = self._current_file_states()
        self._prepare()
        # The modules of a check are loaded once, while the fork server loads its own.
        importlib.import_module("grader.commands.check.console")
        gc.collect()
        gc.freeze()
        self._checks: set[int] = set()

    def serve(self) -> None:
        """Serve until the daemon was idle for long enough, or a loaded file has changed."""
        last = time.monotonic()
        while self._checks or time.monotonic() < last + protocol.idle_seconds():
            wait = REAP_SECONDS if self._checks else last + protocol.idle_seconds() - time.monotonic()
            is_asked, _, _ = select.select([self._listener], [], [], max(0.0, wait))
            if self._reap():
                last = time.monotonic()
            if not is_asked:
                continue
            connection, _ = self._listener.accept()
            with connection:
                if not protocol.is_own(connection):
                    continue
                if self._current_file_states() != self._file_states:
                    return
                self._fork(connection)

    def wait(self) -> None:
        """Wait for the running checks: the fork server ends with this process."""
        while self._checks:
            time.sleep(REAP_SECONDS)
            self._reap()

    def _fork(self, connection: socket.socket) -> None:
        self._prepare()  # again, if it was killed
        pid = os.fork()
        if pid:
            self._checks.add(pid)
            return
        with suppress(BaseException):
            self._listener.close()
            os.close(self._lock)
            _check(connection)
        os._exit(1)

    def _prepare(self) -> None:
        needs_torch = course_needs_torch(self._course, self._config)
        forkserver.prepare(self._helper_packages, needs_torch=needs_torch)

    def _reap(self) -> bool:
        """Forget the checks that have ended; return True if there were any."""
        ended = {pid for pid in self._checks if os.waitpid(pid, os.WNOHANG)[0]}
        self._checks -= ended
        return bool(ended)

    def _current_file_states(self) -> dict[str, Stamp | None]:
        """Return the states of all loaded files, and of the folders in which packages are installed."""
        packages = [path for package in ("grader", *self._helper_packages) for path in module_files(package)]
        return {str(path): stamp(str(path)) for path in (*self._settings, *packages)}


def _settings(course: Path) -> list[str]:
    """Return what else a check depends on: configurations, the modules that they import, folders of libraries.

    Args:
        course: the course folder, whose configuration has been loaded.
    """
    prefixes = (sys.prefix, sys.base_prefix)
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    imported = [file for file in files if file and not file.startswith(prefixes)]
    folders = [*jupyter_config_path(), str(course)]
    names = [f"{base}.{kind}" for base in ("jupyter_config", "nbgrader_config") for kind in ("py", "json")]
    configurations = [os.path.join(folder, name) for folder in folders for name in names]
    return [*imported, *configurations, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


def _check(connection: socket.socket) -> None:
    """Become the client's process for one command, and send its exit status."""
    connection.settimeout(ANSWER_SECONDS)
    request, streams = protocol.receive(connection)
    connection.sendall(protocol.STARTED)
    connection.settimeout(None)
    for number, stream in zip(protocol.STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    tempfile.tempdir = None
    sys.argv = ["grader", *request.arguments]
    names = ("stdin", "stdout", "stderr")
    for number, name, (encoding, errors) in zip(protocol.STREAMS, names, request.encodings, strict=True):
        mode = "w" if number else "r"
        buffering = 1 if number == 2 or os.isatty(number) else -1
        setattr(sys, name, open(number, mode, buffering, encoding, errors, closefd=False))  # noqa: SIM115
    forkserver.adopt_running_server()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_pass_on_interrupts, args=(connection,), daemon=True).start()
    status = _status(request.arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([status]))
    os._exit(0)


def _status(arguments: list[str]) -> int:
    try:
        return run_command(arguments)
    except SystemExit as end:  # a usage error
        return end.code if isinstance(end.code, int) else 0


def _pass_on_interrupts(connection: socket.socket) -> None:
    """Interrupt the main thread at Ctrl-C in the client's terminal, or when the client is gone."""
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    with suppress(OSError):
        while connection.recv(1):
            signal.pthread_kill(main_thread, signal.SIGINT)
    signal.pthread_kill(main_thread, signal.SIGINT)
    time.sleep(CLEANUP_SECONDS)
    os._exit(INTERRUPTED)
