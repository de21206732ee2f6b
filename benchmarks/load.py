"""Runs `grader serve` under load: a service that can be killed, and students who hand in and wait for their reports.

Arrival: when, who, which notebook --POST, GET ?wait=--> Delivery: when it was accepted and reported
"""

import asyncio
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPResponse

from benchmarks.classes import ASSIGNMENT, PROGRAMS, environment
from grader.commands.serve.accounts import TOKENS, make_tokens

LOG = "serve.log"
LOST = 599
"""tornado's code for a connection that ends without a response."""
RETRY_SECONDS = 0.25
WAIT_SECONDS = 30
CLIENTS = 900
"""Connections at a time; the service takes 1000."""


@dataclass(frozen=True)
class Arrival:
    """A notebook that a student submits, and the seconds from the start of the load until then."""

    seconds: float
    student: str
    notebook: str


@dataclass(frozen=True)
class Delivery:
    """The times at which an arrival was due, accepted and reported, in seconds of the monotonic clock."""

    arrival: Arrival
    due: float
    accepted: float
    reported: float

    @property
    def latency(self) -> float:
        """Seconds from arrival to report."""
        return self.reported - self.due


class Service:
    """`grader serve` in a course folder, at the same address after every start; a context manager that stops it."""

    def __init__(self, folder: Path, students: Sequence[str]) -> None:
        """Give each student a token; `folder` is a course folder without tokens."""
        self.folder = folder
        make_tokens(folder, students)
        self.tokens = dict(line.split(",") for line in (folder / TOKENS).read_text().split()[1:])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> "Service":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def start(self) -> None:
        """Start the service without waiting for its first answer."""
        command = [str(PROGRAMS / "grader"), "serve", f"--bind=127.0.0.1:{self.port}"]
        with (self.folder / LOG).open("a") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment(), stdout=log, stderr=log)

    def kill(self) -> None:
        """Kill the service, as a power failure does."""
        self.process.kill()
        self.process.wait()

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the service, from this start or an earlier one."""
        found = []
        for process in psutil.process_iter():
            try:
                if Path(process.cwd()) == self.folder.resolve():
                    found.append(process)
            except (psutil.Error, OSError):  # it has ended
                continue
        return found

    def memory(self) -> tuple[float, float]:
        """Return the MiB of the service's own process, and of all its processes, shared memory counted once."""
        own = psutil.Process(self.process.pid)
        total = 0
        for process in (own, *own.children(recursive=True)):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:  # it has ended
                continue
        return own.memory_info().rss / 2**20, total / 2**20


class Students:
    """Clients of a service. Each repeats a request until it is answered, however often the service is killed."""

    def __init__(self, service: Service, submitted: Path) -> None:
        """Make clients.

        Args:
            service: the service.
            submitted: the folder from which the students take their notebooks.
        """
        self._service, self._submitted = service, submitted
        self.refused = 0
        self._client = AsyncHTTPClient(force_instance=True, max_clients=CLIENTS)

    async def warm(self, arrival: Arrival) -> None:
        """Wait until the service has graded a notebook: the first one takes as long as the start of a class run."""
        await self.deliver([arrival])
        self.refused = 0

    async def deliver(self, arrivals: Iterable[Arrival]) -> list[Delivery]:
        """Hand in each notebook at its time, and wait for all reports."""
        begin = time.monotonic()
        return await asyncio.gather(*(self._deliver(arrival, begin + arrival.seconds) for arrival in arrivals))

    async def _deliver(self, arrival: Arrival, due: float) -> Delivery:
        await asyncio.sleep(due - time.monotonic())
        path = self._submitted / arrival.student / ASSIGNMENT / f"{arrival.notebook}.ipynb"
        receipt = await self._answer(
            f"/hand-in/{ASSIGNMENT}/{arrival.notebook}", arrival.student, method="POST", body=path.read_bytes()
        )
        accepted = time.monotonic()
        form = receipt
        while form["state"] in ("waiting", "grading"):
            form = await self._answer(f"/hand-in/{receipt['id']}?wait={WAIT_SECONDS}", arrival.student)
        return Delivery(arrival, due, accepted, time.monotonic())

    async def _answer(self, path: str, student: str | None, **request: object) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {self._service.tokens[student]}"} if student else {}
        while True:
            try:
                answer: HTTPResponse = await self._client.fetch(
                    self._service.url + path, headers=headers, request_timeout=WAIT_SECONDS + 30, **request
                )
                return dict(json.loads(answer.body))
            except (HTTPClientError, OSError) as error:
                if self._service.process.poll() is not None:
                    log = (self._service.folder / LOG).read_text()
                    raise RuntimeError(f"the service ended by itself: {log[-1000:]}") from error
                pause = RETRY_SECONDS
                if isinstance(error, HTTPClientError) and error.code != LOST:
                    if error.code not in (429, 503) or error.response is None:
                        raise
                    self.refused += 1
                    pause = float(error.response.headers["Retry-After"])
                await asyncio.sleep(pause)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
