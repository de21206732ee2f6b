"""Starts warm processes: children of a fork server that has loaded everything heavy start in milliseconds.

parent --first use--> fork server (torch, IPython, ... loaded, clean environment) --fork--> runner, sandbox
"""

import importlib
import io
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver, popen_forkserver, reduction, resource_tracker, spawn, util
from multiprocessing.connection import Connection
from multiprocessing.context import set_spawning_popen
from multiprocessing.process import BaseProcess
from typing import Any

from grader.engine.code_digest import module_files, package_paths

RUNNER = "grader.engine.runner.main:main"
SANDBOX = "grader.engine.sandbox.main:main"
READER = "grader.engine.reader.main:main"
PRELOADED = ["grader.engine.supervisor.early", "grader.engine.supervisor.preload"]
HELPER_PACKAGES = "GRADER_HELPER_PACKAGES"
"""Environment variable from which the fork server takes the modules of helper packages, and where to find them."""
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "ATEN_CPU_CAPABILITY")
SERVER_ENVIRONMENT = {
    # A child runs on one processor: the threads that student code asks torch for must not spin while they wait for it.
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "PYTHONHASHSEED": "0",
}

MAX_TEMPORARY = 107 - len("/pymp-01234567/listener-01234567")
"""Longest path of a temporary folder, in bytes, that leaves room for the server's socket, whose path may have 107."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)
_starting = threading.Lock()
_shared = threading.Event()
"""Set in a process that uses the fork server of the one from which it was forked."""
_helper_packages: dict[str, None] = {}


def skip_slow_imports() -> None:
    """Make jsonschema do without its package for web addresses, which no notebook schema needs.

    The package builds a grammar when it is imported, which takes two seconds.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def use(helper_packages: tuple[str, ...]) -> None:
    """Add packages that the fork server loads. If it runs already, its children load those that it lacks."""
    _helper_packages.update(dict.fromkeys(helper_packages))


def prepare(helper_packages: tuple[str, ...] = ()) -> None:
    """Start the fork server, which loads its modules while this process goes on.

    Args:
        helper_packages: packages that notebooks import.
    """
    use(helper_packages)
    with _starting:
        _ensure_running()


def share() -> None:
    """Have this process, a fork of the one that started the fork server, use that server, which must be running."""
    # multiprocessing would look after the server as after a child, and it is the child of another process.
    for owner in (forkserver, forkserver._forkserver):
        setattr(owner, "ensure_running", lambda: None)  # noqa: B010
    _shared.set()


@cache
def _modules_to_load(package: str) -> tuple[list[str], list[str]]:
    """Return the folders in which a helper package is found, and its modules."""
    folders = [str(path.parent) for path in package_paths(package)]
    # A module that is a program would run.
    modules = [name for name in module_files(package).values() if not name.endswith(".__main__")]
    return folders, [name for name in modules if all(part.isidentifier() for part in name.split("."))]


def start(target: str, *arguments: Any) -> BaseProcess:
    """Fork a warm process that calls a function.

    The function is named and not passed, because the parent need not import its module: torch alone takes a second.

    Args:
        target: the function, as "module:function".
        arguments: the arguments of the call, which multiprocessing pickles.
    """
    process = _Process(target=_call, args=(target, *arguments), daemon=True)
    process.authkey = b""
    with _starting:
        _ensure_running()
        with _no_interrupt():
            process.start()
    return process


class _Popen(popen_forkserver.Popen):
    """Starts a child, and keeps from it the command line, main program and working folder of this process."""

    def _launch(self, process: BaseProcess) -> None:
        data = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump({"name": process.name, "sys_path": _sys_path()}, data)
            reduction.dump(process, data)
        finally:
            set_spawning_popen(None)
        self.sentinel, writing = forkserver.connect_to_new_process(self._fds)  # type: ignore[attr-defined]
        # The child watches the other end: it ends when this process does.
        kept = os.dup(writing)
        self.finalizer = util.Finalize(self, util.close_fds, (kept, self.sentinel))  # type: ignore[attr-defined]
        with open(writing, "wb") as file:
            file.write(data.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class _Process(BaseProcess):
    """A child of the fork server."""

    _start_method = "forkserver"

    @staticmethod
    def _Popen(process: BaseProcess) -> _Popen:  # noqa: N802
        return _Popen(process)


def _call(target: str, *arguments: Any) -> None:
    module, _, function = target.partition(":")
    getattr(importlib.import_module(module), function)(*arguments)


def end(process: BaseProcess) -> None:
    """Kill a process and release all that the parent holds of it."""
    process.kill()
    process.join()
    # start() in another thread goes through all processes, and must not meet one that is half closed.
    with _starting:
        process.close()


def pipe() -> tuple[Connection, Connection]:
    """Return two connected ends, each of which can be handed to a process."""
    return _context.Pipe()


def _ensure_running() -> None:
    """Start the fork server if it does not run.

    Only meanwhile are this process's environment and main program hidden: other threads, which may start programs of
    their own, see both at any other time.
    """
    if _shared.is_set() or _is_running():
        return
    _find_room_for_the_socket()
    with _clean_environment(), _no_main(), _no_preparation(), _no_interrupt():
        forkserver.ensure_running()


def _is_running() -> bool:
    pid = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    # It is not reaped: multiprocessing does that.
    return pid is not None and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@cache
def _find_room_for_the_socket() -> None:
    """Give multiprocessing its folder in /tmp if the usual one is too deep, as Python itself does from 3.14 on."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) > MAX_TEMPORARY:
        tempfile.tempdir = "/tmp"
    try:
        util.get_temp_dir()
    finally:
        tempfile.tempdir = usual


@contextmanager
def _clean_environment() -> Iterator[None]:
    """Hide this process's environment from the fork server: its children have no business with a token in it."""
    packages = json.dumps([_modules_to_load(package) for package in _helper_packages])
    before = dict(os.environ)
    clean = {name: before[name] for name in KEPT_ENVIRONMENT if name in before}
    os.environ.clear()
    os.environ.update(clean, **SERVER_ENVIRONMENT, **{HELPER_PACKAGES: packages})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Block Ctrl-C, which reaches all processes of a terminal, in the fork server: it ends with this process anyway."""
    # When it starts inside the block, the resource tracker unblocks the signal again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _no_preparation() -> Iterator[None]:
    """Keep from children what multiprocessing tells them: this process's command line, key and working folder."""
    usual = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {"name": name, "sys_path": _sys_path()}
    try:
        yield
    finally:
        spawn.get_preparation_data = usual


def _sys_path() -> list[str]:
    """Where children find modules: as this process, but not in its working folder, unless that holds a package."""
    here = os.getcwd()
    needed = {folder for package in ("grader", *_helper_packages) for folder in _modules_to_load(package)[0]}
    return [path for path in map(os.path.abspath, sys.path) if path != here or path in needed]


@contextmanager
def _no_main() -> Iterator[None]:
    """Keep a child from importing the main program (pytest, nbgrader) again: it needs nothing of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
