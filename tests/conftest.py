"""Shares fixtures: a sandbox with student code, a student's module on both sides of the boundary, a graded class."""

import atexit
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# nbgrader's commands run as subprocesses that inherit this; torch here must stay single-threaded too.
os.environ["OMP_NUM_THREADS"] = "1"
# A test that wants a daemon says so.
os.environ["GRADER_DAEMON_SECONDS"] = "0"
# What a check keeps is not for the person who runs the tests, nor for the next run: that one may have a course trusted
# by this one at the same path. Workers inherit the folder.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="state-of-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
# As in an activated environment: nbgrader itself calls the program `alembic` by its name.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

import pytest
import torch
from torch import nn

from grader.engine.code_digest import KERNEL
from grader.engine.rpc.channel import FROM_SANDBOX, Channel
from grader.engine.rpc.jobs import SandboxSettings
from grader.engine.rpc.protocol import CellDone, Ready, RunCell
from grader.engine.runner.standins.client import RpcClient
from grader.engine.supervisor import forkserver, pool
from grader.engine.supervisor.session import readable_paths
from tests.support.schedule import own_processor
from tests.support.small_class import SCORES, grade_class, make_class

# A shell starts what it puts into the background so that it ignores these. Programs under test inherit that, and some
# tests press Ctrl-C.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(ignored, signal.default_int_handler if ignored is signal.SIGINT else signal.SIG_DFL)
# All tests of a process share its fork server: it loads the package of this course's notebooks, whichever comes first.
forkserver.use((KERNEL, "course"))
# Their runners start on this worker's own processor.
pool._load.update([processor for processor in pool._load if processor != own_processor()])

SMALL = """
class Small(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.first = nn.Linear(width, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(4, 2)
        self.width = width
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.last(self.drop(self.norm(self.first(x)).relu()))

    def double_of(self, x):
        return self.first(x) * 2

    @property
    def weight_sum(self):
        return self.first.weight.sum()
"""


class Student:
    """Student code in a sandbox of its own, seen as a test cell sees it: `student["their_function"]`."""

    def __init__(self, process: Any, connection: Any) -> None:
        self.process = process
        self.channel = Channel(socket.socket(fileno=os.dup(connection.fileno())), FROM_SANDBOX)
        connection.close()
        assert isinstance(self.channel.receive()[0], Ready)
        self.client = RpcClient(self.channel)

    def __getitem__(self, name: str) -> Any:
        return self.client.fetch_names([name])[name]

    def run(self, source: str) -> CellDone:
        """Run a cell; return its outputs and the exception it ended with."""
        return self.client.run(RunCell(source=source, name="answer"))


@pytest.fixture
def student(tmp_path: Path) -> Iterator[Callable[[str], Student]]:
    """Start a sandbox that has run `source`, with torch and nn imported; fail where that raised."""
    torch.manual_seed(0)
    settings = SandboxSettings(
        scratch=tmp_path, memory_mb=2048, file_mb=16, output_kb=1024, processor=min(os.sched_getaffinity(0)),
        helper_packages=(KERNEL,), readable=readable_paths((KERNEL,)),
    )  # fmt: skip
    with ExitStack() as cleanup:

        def start(source: str) -> Student:
            runner_end, sandbox_end = forkserver.pipe()
            process = forkserver.start(forkserver.SANDBOX, sandbox_end, settings)
            sandbox_end.close()
            cleanup.callback(process.join)
            cleanup.callback(process.kill)
            started = Student(process, runner_end)
            cleanup.callback(started.channel.close)
            assert started.run("import torch\nfrom torch import nn\n" + source).error is None
            return started

        yield start


@pytest.fixture
def in_both(student):
    """Run a source in this process and in a sandbox; return the names that it defines in each."""

    def run(source):
        local = {"torch": torch, "nn": nn}
        exec(source, local)
        return local, student(source)

    return run


@pytest.fixture
def pair(in_both):
    """The same module in this process and in a sandbox, with the same weights, drawn from the same seed."""
    modules = []
    for names in in_both(SMALL):
        torch.manual_seed(1)
        modules.append(names["Small"]())
    return modules


def pytest_collection_finish() -> None:
    """Leave the repository: what fixtures of a module write by a relative path is removed at the end."""
    os.chdir(os.environ["XDG_STATE_HOME"])


@pytest.fixture(autouse=True)
def own_folder() -> Iterator[None]:
    """Each test runs in a folder of its own, and what it writes by a relative path is removed."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="test-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        yield
        os.chdir(before)


@pytest.fixture(scope="session", autouse=True)
def one_alembic():
    """nbgrader starts alembic for each new gradebook, which takes seconds and says the same each time."""
    if "nbgrader.api" in sys.modules:  # the tests that were collected need it
        from tests.support.warm import alembic_runs_once

        alembic_runs_once()


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """A class, graded four students at a time."""
    folder = make_class(tmp_path_factory.mktemp("graded") / "course")
    assert grade_class(folder, jobs=4) == sorted(SCORES)
    return folder


@pytest.fixture
def again(graded, tmp_path):
    """A copy of the graded class to change."""
    return shutil.copytree(graded, tmp_path / "course")


@pytest.fixture(scope="module")
def database():
    """A PostgreSQL server of the module's own."""
    from tests.support.postgres import postgres, programs  # its driver is an extra

    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def judge(proof_cache):
    """Grades submissions to the exercises of the course, on a processor of this worker's own."""
    from tests.support.judge import Judge  # it reads all notebooks of the course

    return Judge(proof_cache)
