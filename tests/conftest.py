"""What the tests share: a candidate to talk to."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# nbgrader's commands run as subprocesses that inherit this; torch here must stay single-threaded too.
os.environ["OMP_NUM_THREADS"] = "1"
# As in an activated environment: nbgrader itself calls the program `alembic` by its name.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

import pytest
import torch

from course.grading import candidate, processes
from course.grading.client import Client
from course.grading.limits import Limits
from course.grading.wire import Channel


class Student:
    """Student code in a confined process of its own, seen as a test cell sees it: `student["their_function"]`."""

    def __init__(self, process: Any, connection: Any) -> None:
        self.process = process
        channel = Channel(socket.socket(fileno=os.dup(connection.fileno())))
        connection.close()
        assert channel.receive()[0]["done"] == candidate.READY
        self.client = Client(channel)

    def __getitem__(self, name: str) -> Any:
        return self.client.look([name])[name]

    def run(self, source: str) -> dict[str, Any]:
        """Runs a cell; returns its outputs and what it raised."""
        return self.client.run(source, "answer")


@pytest.fixture
def student(tmp_path: Path) -> Iterator[Callable[[str], Student]]:
    """Starts a candidate that has run `source`, with torch and nn imported; fails where that raised."""
    torch.manual_seed(0)
    limits = {name: getattr(Limits(), name) for name in Limits().trait_names(config=True)}
    with ExitStack() as cleanup:

        def start(source: str) -> Student:
            ours, theirs = processes.pipe()
            process = processes.start(
                "course.grading.candidate:main", theirs, tmp_path, limits, min(os.sched_getaffinity(0))
            )
            theirs.close()
            cleanup.callback(process.join)
            cleanup.callback(process.kill)
            made = Student(process, ours)
            assert made.run("import torch\nfrom torch import nn\n" + source)["raised"] is None
            return made

        yield start
