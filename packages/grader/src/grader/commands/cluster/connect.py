"""Connects to a scheduler of dask, or starts one with workers on this machine.

tcp://HOST:8786, tls://HOST:8786 --> a client of that scheduler          local:N --> a scheduler and N workers here
"""

import logging
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, Security, SpecCluster, Worker

from grader.errors import GraderError

LOCAL = re.compile(r"local:([1-9][0-9]*)")
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:[0-9]+")
ADMIN = "distributed.admin"
CALL_SECONDS = 10
"""Seconds that the scheduler may take to answer a simple request."""


class _Silent:
    """Omits dask's web server, which answers anyone."""

    def start_http_server(self, *arguments: Any, **options: Any) -> None:
        """Start nothing."""


class LocalScheduler(_Silent, Scheduler):
    """A scheduler without a web server."""


class LocalWorker(_Silent, Worker):
    """A worker without a web server."""


def local_cluster(workers: int) -> SpecCluster:
    """Return a scheduler and workers on this machine, each worker a process with one thread.

    Every account of the machine can reach their ports, so clients need a certificate. It exists only in the memory of
    these processes.
    """
    security = Security.temporary()
    common = {"host": "127.0.0.1", "protocol": "tls://", "security": security, "dashboard": False}
    quiet = {"silence_logs": logging.WARN}
    scheduler = {"cls": LocalScheduler, "options": {**common, "port": 0}}
    options = {**common, **quiet, "worker_class": LocalWorker, "nthreads": 1, "memory_limit": 0}
    worker = {"cls": Nanny, "options": options}
    return SpecCluster(scheduler=scheduler, workers=dict.fromkeys(range(workers), worker), security=security, **quiet)


class Connection:
    """A client of a scheduler that can reconnect."""

    def __init__(self, address: str, reconnect_seconds: float) -> None:
        """Connect.

        Args:
            address: the address of the scheduler, or `local:N`.
            reconnect_seconds: how long to try.

        Raises:
            GraderError: the address is malformed, or no scheduler answers.
        """
        self._address, self._reconnect_seconds = address, reconnect_seconds
        self._cluster: SpecCluster | None = None
        # Its messages are about dask's internals. Our errors and notes have what an instructor must know.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        # dask would keep the last thousand messages, each of them a submission.
        dask.config.set({f"{ADMIN}.large-graph-warning-threshold": "1 GB", f"{ADMIN}.low-level-log-length": 0})
        if match := LOCAL.fullmatch(address):
            try:
                self._cluster = local_cluster(int(match[1]))
            except Exception as error:
                raise GraderError(
                    f"workers cannot be started on this machine ({type(error).__name__}: {error}): grade without "
                    "--scheduler"
                ) from error
        elif not ADDRESS.fullmatch(address):
            raise GraderError(
                f"--scheduler takes the address of a dask scheduler as tcp://HOST:PORT, or local:N for N workers here; "
                f"got {address!r}"
            )
        self.client = self._connected()

    def again(self) -> None:
        """Reconnect; raise GraderError if no scheduler answers."""
        self._forget_client()
        self.client = self._connected()

    def threads(self) -> dict[str, int]:
        """Return the number of threads of each worker by its address; raise any exception if the scheduler is lost."""
        if self.client.status == "closed":
            raise OSError("the connection is closed")
        scheduler: Any = self.client.scheduler
        threads: dict[str, int] = self.client.sync(scheduler.ncores, callback_timeout=CALL_SECONDS)
        return threads

    def submit(self, worker: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """Have a worker call a function, and return dask's future; raise OSError if the connection is lost."""
        try:
            return self.client.submit(call, *arguments, workers=[worker], allow_other_workers=False, pure=False)
        except Exception as error:
            raise OSError("the connection is closed") from error

    def close(self) -> None:
        """Close the client, and stop a cluster that was started here."""
        self._forget_client()
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=CALL_SECONDS)

    def _connected(self) -> Client:
        cluster = self._cluster
        address, security = (cluster.scheduler_address, cluster.security) if cluster else (self._address, None)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # about versions of dask's packages; Requirements compares the ones that matter
                return Client(address, timeout=self._reconnect_seconds, set_as_default=False, security=security)
        except Exception as error:
            raise GraderError(
                f"no scheduler answers at {address} within {self._reconnect_seconds:g} s ({type(error).__name__}): "
                "start it with 'dask scheduler', or correct the address"
            ) from None

    def _forget_client(self) -> None:
        with suppress(Exception):
            self.client.close(timeout=CALL_SECONDS)


def why_unusable(call: Any, seconds: float) -> str:
    """Return why a worker cannot grade, or ''.

    Args:
        call: dask's future of `worker_task.prepare`.
        seconds: how long to wait for it.
    """
    try:
        return str(call.result(timeout=seconds))
    except ModuleNotFoundError as error:
        package = error.name
        return (
            f"it lacks a package ({package}): install the driver's version of the grader and its extra 'cluster' on it"
        )
    except Exception as error:
        return f"it cannot get ready ({type(error).__name__}: {error})"
