"""Starts warm processes: children of a fork server that has loaded everything heavy start in milliseconds.

parent --first use--> fork server (torch, IPython, ... loaded, clean environment) --fork--> runner, sandbox

A course that does not use torch has a fork server without it. A process that comes to need torch later starts another
one, and goes on with that.
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
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver, popen_forkserver, reduction, resource_tracker, spawn, util
from multiprocessing.connection import Connection
from multiprocessing.context import set_spawning_popen
from multiprocessing.process import BaseProcess
from typing import Any

from grader.engine.code_digest import module_files, package_paths
from grader.engine.torch_use import WITHOUT_TORCH, is_installed

RUNNER = "grader.engine.runner.main:main"
SANDBOX = "grader.engine.sandbox.main:main"
PARSER = "grader.engine.parser.main:main"
PRELOADED = ["grader.engine.supervisor.preload"]
HELPER_PACKAGES = "GRADER_HELPER_PACKAGES"
"""Environment variable that gives the fork server the modules of helper packages and the folders that hold them."""
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "ATEN_CPU_CAPABILITY")
SERVER_ENVIRONMENT = {
    # A child runs on one processor, so threads that student code asks torch for must not spin while they wait.
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "PYTHONHASHSEED": "0",
}

MAX_TEMPORARY = 107 - len("/pymp-01234567/listener-01234567")
"""Longest path of a temporary folder, in bytes, that leaves room for the server's socket, whose path may have 107."""

_context = multiprocessing.get_context("forkserver")
_starting = threading.Lock()
_servers: dict[bool, forkserver.ForkServer] = {}
"""The fork servers, by whether they have torch."""
_shared: set[bool] = set()
"""Those of the process from which this one was forked."""
_helper_packages: dict[str, None] = {}
_is_torch_needed: bool | None = None
"""Whether anything so far has needed torch; None if nothing was said."""


def skip_slow_imports() -> None:
    """Make jsonschema do without its package for web addresses, which no notebook schema needs.

    The package builds a grammar when it is imported, which takes two seconds.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def use(helper_packages: tuple[str, ...], *, needs_torch: bool = True) -> None:
    """Add packages that the fork server loads. If it runs already, its children load those that it lacks.

    Args:
        helper_packages: the packages.
        needs_torch: whether children that start from now on must have torch, if it is installed.
    """
    global _is_torch_needed
    _helper_packages.update(dict.fromkeys(helper_packages))
    _is_torch_needed = needs_torch or bool(_is_torch_needed)


def has_torch() -> bool:
    """Return whether children that start now have torch."""
    return _is_torch_needed is not False and is_installed()


def prepare(helper_packages: tuple[str, ...] = (), *, needs_torch: bool = True) -> None:
    """Start the fork server, which loads its modules and these packages in the background; arguments as of `use`."""
    use(helper_packages, needs_torch=needs_torch)
    with _starting:
        _running_server(has_torch())


def adopt_running_server() -> None:
    """Use the running fork servers of the process from which this one was forked."""
    # multiprocessing would manage a server as a child of this process, but another process started it.
    for server in _servers.values():
        setattr(server, "ensure_running", lambda: None)  # noqa: B010
    _shared.update(_servers)


@cache
def _modules_to_load(package: str) -> tuple[list[str], list[str]]:
    """Return the folders in which a helper package is found, and its modules."""
    folders = [str(path.parent) for path in package_paths(package)]
    # A module that is a program would run.
    modules = [name for name in module_files(package).values() if not name.endswith(".__main__")]
    return folders, [name for name in modules if all(part.isidentifier() for part in name.split("."))]


def start(target: str, *arguments: Any, with_torch: bool | None = None) -> BaseProcess:
    """Fork a warm process that calls a function.

    The function is passed by name, so the parent need not import its module: torch alone takes a second.

    Args:
        target: the function, as "module:function".
        arguments: the arguments of the call, which multiprocessing pickles.
        with_torch: whether the process has torch; by default, as `has_torch` says.
    """
    process = _Process(target=_call, args=(target, *arguments), daemon=True)
    process.authkey = b""
    with _starting:
        process.server = _running_server(has_torch() if with_torch is None else with_torch)
        with _no_interrupt():
            process.start()
    return process


class _Process(BaseProcess):
    """A child of a fork server."""

    _start_method = "forkserver"
    server: forkserver.ForkServer

    @staticmethod
    def _Popen(process: BaseProcess) -> "_Popen":  # noqa: N802
        return _Popen(process)


class _Popen(popen_forkserver.Popen):
    """Starts a child, and keeps from it the command line, main program and working folder of this process."""

    def _launch(self, process: BaseProcess) -> None:
        assert isinstance(process, _Process)
        server = process.__dict__.pop("server")
        data = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump({"name": process.name, "sys_path": _sys_path()}, data)
            reduction.dump(process, data)
        finally:
            set_spawning_popen(None)
        self.sentinel, writing = server.connect_to_new_process(self._fds)  # type: ignore[attr-defined]
        # The child watches the other end: it ends when this process does.
        kept = os.dup(writing)
        self.finalizer = util.Finalize(self, util.close_fds, (kept, self.sentinel))  # type: ignore[attr-defined]
        with open(writing, "wb") as file:
            file.write(data.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


def _call(target: str, *arguments: Any) -> None:
    module, _, function = target.partition(":")
    getattr(importlib.import_module(module), function)(*arguments)


def end(process: BaseProcess) -> None:
    """Kill a process and release its resources in the parent."""
    process.kill()
    process.join()
    # start() in another thread iterates over all processes and must not find a half-closed one.
    with _starting:
        process.close()


def pipe() -> tuple[Connection, Connection]:
    """Return two connected ends, each of which can be handed to a process."""
    return _context.Pipe()


def _running_server(with_torch: bool) -> forkserver.ForkServer:
    """Return the fork server with or without torch, and start it if it does not run.

    The environment of this process is hidden for that moment only, because other threads may start programs.
    """
    if with_torch not in _servers:
        _servers[with_torch] = forkserver.ForkServer()
        _servers[with_torch].set_forkserver_preload(PRELOADED)
    server = _servers[with_torch]
    if with_torch not in _shared and not _is_running(server):
        _find_room_for_the_socket()
        with _clean_environment(with_torch), _no_preparation(), _no_interrupt():
            server.ensure_running()
    return server


def _is_running(server: forkserver.ForkServer) -> bool:
    pid = server._forkserver_pid  # type: ignore[attr-defined]
    # WNOWAIT leaves the process for multiprocessing to reap.
    return pid is not None and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@cache
def _find_room_for_the_socket() -> None:
    """Have multiprocessing use /tmp if the path of the usual folder is too long, as Python does from 3.14 on."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) > MAX_TEMPORARY:
        tempfile.tempdir = "/tmp"
    try:
        util.get_temp_dir()
    finally:
        tempfile.tempdir = usual


@contextmanager
def _clean_environment(with_torch: bool) -> Iterator[None]:
    """Hide this process's environment, which may hold tokens, from the fork server and its children."""
    packages = json.dumps([_modules_to_load(package) for package in _helper_packages])
    before = dict(os.environ)
    clean = {name: before[name] for name in KEPT_ENVIRONMENT if name in before}
    os.environ.clear()
    os.environ.update(clean, **SERVER_ENVIRONMENT, **{HELPER_PACKAGES: packages})
    if not with_torch:
        os.environ[WITHOUT_TORCH] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Block Ctrl-C in the fork server, which ends with this process: a terminal sends it to all processes."""
    # The resource tracker would unblock the signal if it started inside the block.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _no_preparation() -> Iterator[None]:
    """Keep multiprocessing from sending this process's main program, command line, key and working folder."""
    usual = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {"name": name, "sys_path": _sys_path()}
    try:
        yield
    finally:
        spawn.get_preparation_data = usual


def _sys_path() -> list[str]:
    """Return this process's sys.path for children, without the working folder unless it holds a package."""
    here = os.getcwd()
    needed = {folder for package in ("grader", *_helper_packages) for folder in _modules_to_load(package)[0]}
    return [path for path in map(os.path.abspath, sys.path) if path != here or path in needed]
