"""A command that serves HTTP, in a process of its own, and a client of it."""

import json
import os
import signal
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import warm
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS


@dataclass
class Answer:
    """An answer of a service."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON."""
        form: dict[str, Any] = json.loads(self.body)
        return form


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        """Follow none."""


class Served:
    """A service of a course folder in a process of its own; its log goes to COMMAND.log in the folder."""

    def __init__(self, folder: Path, command: str, *options: str) -> None:
        self.folder, self.url = folder, ""
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        reading, writing = os.pipe()
        with (folder / f"{command}.log").open("a") as log, open(os.devnull) as nothing, open(writing, "w"):
            streams = (nothing.fileno(), writing, log.fileno())
            self.process = warm.start(["grader", command, *options], folder, environment, streams)
        self._printed = open(reading)  # noqa: SIM115

    def words(self) -> list[str]:
        """Return the words of the next line that the service prints."""
        return self._printed.readline().split()

    def send(self, path: str, data: bytes | None, headers: dict[str, str]) -> Answer:
        """Send a request, to another address if the path is one; no redirect is followed."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(path if path.startswith("http") else self.url + path, data, named)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=HANGS) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), dict(error.headers))

    def kill(self) -> None:
        """End the process at once, as a power failure does."""
        self.process.send_signal(signal.SIGKILL)
        self._end()

    def stop(self) -> int:
        """Ask the process to end, and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        status = self.process.wait(HANGS)
        self._printed.close()
        return status
