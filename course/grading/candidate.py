"""The process with the student's code: locked in, then answering an examiner until nobody asks any more."""

import ctypes
import os
import random
import signal
import socket
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy
import torch

from course.grading.cells import Shell
from course.grading.confinement import confine
from course.grading.failure import describe
from course.grading.service import Service
from course.grading.wire import Channel, Closed, Packed, WireError

PR_SET_PDEATHSIG = 1
UNCONFINED = "not confined"
READY = "ready"


def main(connection: Connection, scratch: Path | None, limits: dict[str, int], processor: int) -> None:
    """Serves one examiner at the other end of `connection`, for good on the examiner's `processor`.

    Without a scratch folder it runs unconfined.
    """
    _belong_to_parent()
    os.sched_setaffinity(0, {processor})
    channel = Channel(_keep_only(connection))
    if scratch is not None:
        os.chdir(scratch)
        try:
            confine(scratch, limits["memory_mb"], limits["file_mb"])
        except Exception as error:
            channel.send({"done": UNCONFINED, "why": str(error)}, [])
            os._exit(1)
    os.environ.clear()
    # As in a notebook: what it wrote into its folder it can import.
    sys.path.insert(0, "")
    # The same numbers in every run.
    random.seed(0)
    numpy.random.seed(0)
    # Not torch.manual_seed: it also asks for every kind of graphics card, which takes milliseconds.
    torch.default_generator.manual_seed(0)
    shell = Shell(limits["output_kb"] * 1024)

    # Student code may call a test's function from threads of its own.
    one_at_a_time = threading.Lock()

    def ask_back(question: dict[str, Any], tensors: list[torch.Tensor]) -> tuple[dict[str, Any], Packed]:
        with one_at_a_time:
            channel.send(question, tensors)
            return channel.receive()

    service = Service(shell, ask_back)
    channel.send({"done": READY, "pid": os.getpid()}, [])
    while True:
        try:
            request, packed = channel.receive(watch=True)
            answer = service.answer(request, packed)
        except (Closed, WireError):
            os._exit(0)
        try:
            channel.send(*answer)
        except Exception as error:
            # It cannot cross: a WireError, or whatever a tensor of the student's raises when it is looked at.
            channel.send({"raised": describe(error) | {"kind": "TypeError"}}, [])


def _belong_to_parent() -> None:
    """Ends with the fork server, even in an endless loop; and shares the processor as one, however many threads."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # A session of its own is a group of its own to the scheduler, and hears no Ctrl-C.
    os.setsid()


def _keep_only(connection: Connection) -> socket.socket:
    """The socket of `connection` at a number of its own; every other descriptor that came along is closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.dup2(connection.fileno(), 3)
    os.closerange(4, 1 << 16)
    return socket.socket(fileno=3)
