"""Gives the kernels of this test run ports that no other program is given.

jupyter_client chooses a kernel's ports a second before the kernel binds them. In that second the system may give one of
them to a server, a scheduler or a browser of another test, and the kernel dies
(https://github.com/jupyter/jupyter_client/issues/487). The system gives out ports of its own range only; these are
below it. A pytest plug-in.
"""

import os
import random
import socket
from pathlib import Path

from grader.engine.supervisor.forkserver import skip_slow_imports

skip_slow_imports()  # this plug-in is the first one that imports nbformat

from jupyter_client.connect import LocalPortCache  # noqa: E402

FIRST, SHARE = 16_384, 2_048
"""The first port, and how many each worker of pytest-xdist has."""
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class KernelPorts(LocalPortCache):
    """Chooses among the ports of this worker, one after the other.

    It begins anywhere, so that a second test run beside this one is elsewhere in the same ports.
    """

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        self.first = FIRST + worker % ((system_range()[0] - FIRST) // SHARE) * SHARE
        self._chosen = random.SystemRandom().randrange(SHARE)

    def find_available_port(self, ip: str) -> int:
        """Return a port that is free now; another one each time, until all have had their turn."""
        while True:
            port = self.first + self._chosen % SHARE
            self._chosen += 1
            if port not in self.currently_used_ports and _is_free(ip, port):
                self.currently_used_ports.add(port)
                return port


def system_range() -> tuple[int, int]:
    """Return the first and the last port that the system gives to programs that ask for any."""
    first, last = RANGE.read_text().split() if RANGE.exists() else ("32768", "60999")
    return int(first), int(last)


def _is_free(ip: str, port: int) -> bool:
    with socket.socket() as attempt:
        try:
            attempt.bind((ip, port))
        except OSError:
            return False
    return True


# The first instance is that of the parent class too.
KernelPorts.instance()
