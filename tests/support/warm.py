"""Runs `grader`, `nbgrader` and kernels in forks of a process that has loaded them, so that no test waits for imports.

    run(folder, "grader", ...) --module, arguments, folder, environment, streams--> warm process --fork--> the command
              ^---------------------------------- exit status -------------------------|

A command is a process of its own here, too, with its own arguments, folder, environment and streams. It shares the fork
server with other commands of the test process. A start from nothing has tests of its own, which start Python:
tests/test_cli.py, tests/test_sockets.py, tests/classroom/test_killed.py; and `make kernels`, with cold kernels.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from jupyter_client.provisioning import local_provisioner

from grader.engine.code_digest import module_files
from grader.engine.supervisor import forkserver
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

KERNEL = "ipykernel_launcher"
LIBRARIES = ("torch", "torch._dynamo", "matplotlib.figure", "ipykernel.kernelapp")
"""Modules that kernels import, without the helper packages, which look for the kernel that imports them."""
HELPER_PACKAGES = ("grader_kernel", "course")


class Command:
    """A command that runs, with as much of subprocess.Popen as tests and jupyter_client need."""

    stdin = stdout = stderr = None

    def __init__(self, args: list[str], process: int, connection: socket.socket) -> None:
        self.args, self.pid, self.returncode = args, process, None
        self._connection = connection

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, or minus the number of the signal that ended the command.

        Raises:
            TimeoutExpired: it runs longer than `timeout` seconds.
        """
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._connection.recv(16))
            except TimeoutError:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit status, or None while the command runs."""
        try:
            return self.wait(1e-6)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the command at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the command to end."""
        self.send_signal(signal.SIGTERM)


def start(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    *,
    at_terminal: bool = False,
) -> Command:
    """Start a command as `python -m` does.

    Args:
        command: the module and its arguments.
        folder: the working folder.
        environment: the whole environment.
        streams: the descriptors of standard input, output and error.
        at_terminal: whether the command leads a session, with standard input for its terminal.
    """
    ours, its_own = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = {"command": command, "folder": str(folder), "environment": dict(environment), "terminal": at_terminal}
    with its_own:
        warm_process = _warm_process("kernels" if command[0] == KERNEL else "commands")
        socket.send_fds(warm_process, [json.dumps(request).encode()], [its_own.fileno(), *streams])
    return Command(command, int(ours.recv(16)), ours)


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command with nothing to read, and return its exit status and what it printed."""
    with open(os.devnull) as nothing, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started = start(command, folder, environment, (nothing.fileno(), out.fileno(), err.fileno()))
        try:
            status = started.wait(HANGS)
        finally:
            started.kill()
        printed = [_read(file) for file in (out, err)]
    return subprocess.CompletedProcess(command, status, *printed)


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def kernel(program: list[str], *, env: dict[str, str], cwd: str | None = None, **_: object) -> Command:
    """Start a kernel, in the place of jupyter_client's `launch_kernel`.

    Args:
        program: the command line: Python, -m and what `start` takes.
        env: the whole environment.
        cwd: the working folder.
    """
    with open(os.devnull) as nothing:
        return start(program[program.index("-m") + 1 :], Path(cwd or os.getcwd()), env, (nothing.fileno(), 1, 2))


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Have jupyter_client start kernels here."""
    usual = local_provisioner.launch_kernel
    local_provisioner.launch_kernel = kernel
    try:
        yield
    finally:
        local_provisioner.launch_kernel = usual


@cache
def _warm_process(kind: str) -> socket.socket:
    """Start a process for "commands" or "kernels", which ends when this one does, and return the connection to it."""
    ours, its_own = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
    with its_own:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        more = [alembic_runs_once()()] if kind == "commands" else []
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm", str(its_own.fileno()), kind, *more],
            cwd=REPOSITORY, env=environment, pass_fds=[its_own.fileno()],
        )  # fmt: skip
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def main() -> None:
    """Load everything, and fork a process for each command that the test process asks for."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    forkserver.skip_slow_imports()
    if sys.argv[2] == "kernels":
        # Both are read when a library is imported; jupyter_client and ipykernel set them too late for that.
        os.environ |= {"JPY_PARENT_PID": str(os.getpid()), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        _load(LIBRARIES)
    else:
        forkserver.prepare(HELPER_PACKAGES)
        _load([*_command_modules(), "nbgrader.apps.nbgraderapp"])
        version = sys.argv[3]
        sys.modules["nbgrader.api"].get_alembic_version = lambda: version  # type: ignore[attr-defined]
    del sys.path[:2]  # the working folder and PYTHONPATH
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a process with threads must not fork"
    running = selectors.DefaultSelector()
    running.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in running.select():
            if key.fileobj is not requests:
                process, connection = key.data
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                running.unregister(key.fileobj)
                os.close(key.fd)
                with suppress(OSError):  # the test has gone
                    connection.send(str(status).encode())
                connection.close()
                continue
            message, numbers, _, _ = socket.recv_fds(requests, 2**20, 4)
            if not message:
                return
            request, (connected, *streams) = json.loads(message), numbers
            if sys.argv[2] == "commands":
                forkserver.prepare(HELPER_PACKAGES)  # a test may have killed the fork server that all commands share
            if not (process := os.fork()):
                requests.close()
                _become(request, streams)  # it ends as any program does
            if not request["terminal"]:
                os.setpgid(process, process)  # jupyter_client sends its signals to the group of a kernel
            for stream in streams:
                os.close(stream)
            connection = socket.socket(fileno=connected)
            connection.send(str(process).encode())
            running.register(os.pidfd_open(process), selectors.EVENT_READ, (process, connection))


def _command_modules() -> list[str]:
    """The modules of commands, without those that load dask, which starts threads."""
    names = module_files("grader").values()
    return [name for name in names if name.startswith("grader.commands.") and ".cluster." not in name]


def _load(modules: Iterable[str]) -> None:
    for module in modules:
        importlib.import_module(module)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Take on what a command gets from its caller, and run it; raise SystemExit at its end."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if request["terminal"]:
        os.setsid()
        os.close(os.open(os.ttyname(0), os.O_RDWR))  # it is the controlling terminal then
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        buffering = 1 if number == 2 or os.isatty(number) else -1
        errors = "backslashreplace" if number == 2 else "strict"
        setattr(sys, name, open(number, "w" if number else "r", buffering, "utf-8", errors, closefd=False))  # noqa: SIM115
    module, *arguments = request["command"]
    sys.argv = [module, *arguments]
    sys.path[:0] = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    forkserver.adopt_running_server()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit(0)


def alembic_runs_once() -> Callable[[], str]:
    """Have this process remember the version of nbgrader's tables, for which each new gradebook starts alembic."""
    import nbgrader.api

    nbgrader.api.get_alembic_version = cache(nbgrader.api.get_alembic_version)
    return nbgrader.api.get_alembic_version


if __name__ == "__main__":
    main()
