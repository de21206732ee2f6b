"""Runs the student's process: confines it, then answers a runner until that runner is gone."""

import importlib
import os
import random
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

import numpy

from grader.engine.report import partial
from grader.engine.rpc import paths
from grader.engine.rpc.channel import TO_SANDBOX, Channel, ConnectionClosed
from grader.engine.rpc.exceptions import to_data
from grader.engine.rpc.jobs import SandboxSettings
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import (
    MAX_LINE,
    VERSION,
    Callback,
    CallbackReply,
    EndOfTest,
    NotConfined,
    Raised,
    Ready,
    Request,
    RunTest,
)
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.sandbox import machine
from grader.engine.sandbox.isolation.confinement import confine
from grader.engine.sandbox.isolation.namespaces import die_with_parent, go_on_alone, own_pid
from grader.engine.sandbox.server import RpcServer
from grader.engine.sandbox.shell import Shell
from grader.engine.torch_if_used import torch
from grader.text import printable


def main(connection: Connection, settings: SandboxSettings, to_parent: Connection | None = None) -> None:
    """Serve one runner, always on the runner's processor.

    Args:
        connection: the sandbox's end of the connection to the runner.
        settings: what the parent decided for this sandbox.
        to_parent: receives the id of the process that will run student code.
    """
    die_with_parent()
    # The scheduler treats a session as one group, and Ctrl-C in the terminal does not reach it.
    os.setsid()
    if settings.scratch is not None:
        go_on_alone()
    pid = own_pid()
    os.sched_setaffinity(0, {settings.processor})
    if to_parent is not None:
        to_parent.send(pid)
    if settings.group is not None:
        with suppress(OSError):  # without the group, the parent still watches
            (settings.group / "cgroup.procs").write_text("0")
    channel = Channel(_keep_only(connection), TO_SANDBOX)
    for package in settings.helper_packages:
        # Before confinement, because afterwards a package cannot be searched for. A notebook that imports a broken one
        # raises its error where the student sees it.
        with suppress(Exception, SystemExit):
            importlib.import_module(package)
    if settings.scratch is not None:
        paths.hide(settings.scratch, *([settings.files] if settings.files else []))
        os.chdir(settings.scratch)
        tempfile.tempdir = str(settings.scratch)  # torch.compile, for one, makes files
        try:
            confine(settings.scratch, settings.memory_mb, settings.file_mb, settings.readable)
        except Exception as error:
            channel.send(NotConfined(why=printable(error)), [])
            os._exit(1)
    elif settings.files is not None:
        os.chdir(settings.files)
        sys.dont_write_bytecode = True
    os.environ.clear()
    # As in a notebook, student code can import the files that it wrote into its folder.
    sys.path.insert(0, "")
    _seed(0)  # the same random numbers in every run
    machine.replace_in_python()
    shell = Shell(settings.output_kb * 1024)

    # Student code may call a test's function from threads of its own, and that function may call student code.
    one_at_a_time = threading.RLock()

    def ask_back(question: Callback, tensors: list[torch.Tensor]) -> tuple[CallbackReply, DecodedTensors]:
        with one_at_a_time:
            channel.send(question, tensors)
            while True:
                reply, decoded = channel.receive()
                if isinstance(reply, CallbackReply):
                    return reply, decoded
                answer(reply, decoded)

    server = RpcServer(shell, ask_back)

    def answer(request: Request, decoded: DecodedTensors) -> None:
        reply = (_end_of(request, shell), []) if isinstance(request, RunTest) else server.answer(request, decoded)
        try:
            channel.send(*reply)
        except Exception as error:
            # The reply cannot cross, or encoding a tensor of a student's class raises.
            info = to_data(error)
            info.kind = "TypeError"
            channel.send(Raised(error=info), [])

    channel.send(Ready(pid=pid, version=VERSION), [])
    while True:
        try:
            request, decoded = channel.receive(watch=True)
            answer(request, decoded)
        except (ConnectionClosed, ProtocolError):
            os._exit(0)


def _seed(number: int) -> None:
    random.seed(number)
    numpy.random.seed(number)
    # Not torch.manual_seed, which takes milliseconds to look for every kind of graphics card.
    torch.default_generator.manual_seed(number)


def _end_of(test: RunTest, shell: Shell) -> EndOfTest:
    """Run a test in the namespace of the cells. Only a test that runs to its end gives points."""
    _seed(test.seed)
    value, error = shell.run_test(test.source, test.name, test.code)
    try:
        if error is None:
            return EndOfTest(nonce=test.nonce, points=partial(value, test.points))
    except BaseException as raised:  # the value is a number of a class of the student's
        error = raised
    missing = error.name if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) else ""
    is_name = isinstance(missing, str) and missing.isidentifier() and len(missing) <= MAX_LINE
    return EndOfTest(nonce=test.nonce, error=to_data(error), missing=str(missing) if is_name else "")


def _keep_only(connection: Connection) -> socket.socket:
    """Return the socket of `connection` as descriptor 3, and close every other inherited descriptor."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.dup2(connection.fileno(), 3)
    os.closerange(4, 1 << 16)
    return socket.socket(fileno=3)
