"""Warm processes: a fork server that has loaded everything heavy, and children of it that start in milliseconds.

this process --first use--> fork server (torch, IPython, … loaded, clean environment) --fork--> examiner, candidate
"""

import importlib
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
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.process import BaseProcess
from typing import Any

PRELOADED = ["course.grading.warm"]
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR")
SERVER_ENVIRONMENT = {
    # A child has one processor: student code may ask torch for more threads, and these must not spin on it in turn.
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "PYTHONHASHSEED": "0",
    # What a child allocates comes in large pages where the kernel has some: a fifth fewer page faults.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

MAX_TEMPORARY = 107 - len("/pymp-01234567/listener-01234567")
"""Bytes of a folder for temporary files that leave room for the server's socket, whose path may have 107."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)
_starting = threading.Lock()


def prepare() -> None:
    """Starts the fork server, which then loads what it needs while this process goes on."""
    with _starting_one():
        forkserver.ensure_running()


def start(target: str, *arguments: Any) -> BaseProcess:
    """Forks a warm process that calls `target`, "module:function", with `arguments`, as multiprocessing passes them.

    By name, for this process need not load what that one has loaded: torch takes a second.
    """
    process = _context.Process(target=_call, args=(target, *arguments), daemon=True)
    with _starting_one():
        process.start()
    return process


def _call(target: str, *arguments: Any) -> None:
    module, _, function = target.partition(":")
    getattr(importlib.import_module(module), function)(*arguments)


def end(process: BaseProcess) -> None:
    """Kills a process and forgets it."""
    process.kill()
    process.join()
    # start() in another thread looks at all processes, and must not meet one that is half closed.
    with _starting:
        process.close()


def pipe() -> tuple[Any, Any]:
    """Two connected ends, each of which can be handed to a process."""
    return _context.Pipe()


@contextmanager
def _starting_one() -> Iterator[None]:
    """What holds while a process is started: the first one may find that there is no fork server yet, and start it."""
    with _starting, _clean_environment(), _no_main():
        _find_room_for_the_socket()
        with _no_interrupt():
            yield


@cache
def _find_room_for_the_socket() -> None:
    """Where temporary files lie too deep for it, multiprocessing has its own folder in /tmp, as from Python 3.14 on."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) > MAX_TEMPORARY:
        tempfile.tempdir = "/tmp"
    try:
        util.get_temp_dir()
    finally:
        tempfile.tempdir = usual


@contextmanager
def _clean_environment() -> Iterator[None]:
    """The fork server starts without what our environment holds: a token there is none of its children's business."""
    before = dict(os.environ)
    clean = {name: before[name] for name in KEPT_ENVIRONMENT if name in before}
    os.environ.clear()
    os.environ.update(clean, **SERVER_ENVIRONMENT)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """The fork server never hears Ctrl-C, which goes to all processes of a terminal: it ends with this process."""
    # It would let interrupts in again once it has started.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _no_main() -> Iterator[None]:
    """A child would import the program it was started from (pytest, nbgrader) a second time; it needs nothing of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
