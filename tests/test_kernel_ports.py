"""The kernels that tests start have ports that no other program is given meanwhile."""

import socket

import pytest
from jupyter_client.connect import LocalPortCache
from jupyter_client.manager import start_new_kernel

from tests.support.kernel_ports import SHARE, KernelPorts, system_range


def test_kernels_have_ports_of_their_worker() -> None:
    """Below those that the system gives out, and five different ones for each kernel."""
    manager, client = start_new_kernel()
    try:
        own = range(KernelPorts.instance().first, KernelPorts.instance().first + SHARE)
        assert len(set(manager.ports)) == 5 and set(manager.ports) <= set(own) and own.stop <= system_range()[0]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_no_port_is_chosen_that_is_taken() -> None:
    """Neither by a program nor by another kernel of this worker."""
    ports = LocalPortCache.instance()
    first = ports.find_available_port("127.0.0.1")
    with socket.socket() as program:
        program.bind(("127.0.0.1", following(first)))
        assert ports.find_available_port("127.0.0.1") not in (first, following(first))
    ports.return_port(first)


def following(port: int) -> int:
    """The port that comes after another one: after the last, the first."""
    begin = KernelPorts.instance().first
    return begin + (port - begin + 1) % SHARE


def test_two_test_runs_begin_at_different_ports() -> None:
    """They have the same workers, so they share a range."""
    assert len({KernelPorts().find_available_port("127.0.0.1") for _ in range(10)}) > 5


def test_workers_share_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a part of the range."""
    firsts = set()
    for worker in ("gw0", "gw1", "gw2"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        firsts.add(KernelPorts().first)
    assert len(firsts) == 3 and min(abs(a - b) for a in firsts for b in firsts if a != b) >= SHARE
