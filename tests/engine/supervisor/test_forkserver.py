"""Starting warm processes changes nothing that other threads of this process could see."""

import os
import sys
import threading
from multiprocessing import spawn

import pytest

from grader.engine.supervisor import forkserver
from tests.support.waiting import until

pytestmark = pytest.mark.slow


def seen() -> tuple[object, ...]:
    """What another thread may depend on when it starts a program: environment, main program, what children get."""
    return dict(os.environ), sys.modules["__main__"], spawn.get_preparation_data


def start_and_end() -> int:
    """The exit status of a child that ends at once."""
    process = forkserver.start("os:getpid")
    process.join()
    status = process.exitcode
    process.close()
    return -1 if status is None else status


def test_other_threads_see_the_same_process_while_children_start() -> None:
    """dask and nbgrader start programs from threads of their own."""
    forkserver.prepare()
    usual, others, is_done = seen(), list[object](), threading.Event()

    def look() -> None:
        while not is_done.is_set():
            if (now := seen()) != usual:
                others.append(now)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        assert [start_and_end() for _ in range(20)] == [0] * 20
    finally:
        is_done.set()
        watcher.join()
    assert others == []


def test_a_fork_server_that_died_is_started_again_with_a_clean_environment(tmp_path) -> None:
    """A child of the new one knows no token of this process either."""
    forkserver.prepare()
    server = forkserver._servers[True]
    pid = server._forkserver_pid
    os.environ["A_TOKEN"] = "secret"
    try:
        os.kill(pid, 9)
        until(lambda: not forkserver._is_running(server), "the end of the fork server")
        target = tmp_path / "environment"
        process = forkserver.start("subprocess:run", ["sh", "-c", f"env > {target}"])
        process.join()
        process.close()
        found = target.read_text()
        assert "A_TOKEN" not in found and "OMP_NUM_THREADS=1" in found and os.environ["A_TOKEN"] == "secret"
    finally:
        del os.environ["A_TOKEN"]
    assert server._forkserver_pid != pid
