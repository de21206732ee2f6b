"""Runs `grader mark` on a course and asks it as browsers do, and as others would like to."""

import json
import os
import re
import signal
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.commands.mark.marked_course import NAME
from tests.support import warm
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS


@dataclass
class Answer:
    """An answer of the server."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON."""
        form: dict[str, Any] = json.loads(self.text)
        return form


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        """Follow none."""


class Server:
    """A server in a process of its own; its log goes to mark.log in the course folder."""

    def __init__(self, folder: Path, *markers: str, port: int = 0, **variables: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}
        options = (f"--marker={marker}" for marker in markers)
        command = ["grader", "mark", NAME, "--no-browser", f"--bind=127.0.0.1:{port}", *options]
        reading, writing = os.pipe()
        with (folder / "mark.log").open("a") as log, open(os.devnull) as nothing, open(writing, "w"):
            self.process = warm.start(command, folder, environment, (nothing.fileno(), writing, log.fileno()))
        self._printed = open(reading)  # noqa: SIM115
        self.links = dict(self.next_link() for _ in markers or ("me",))
        self.url = re.match(r"http://[^/]+", next(iter(self.links.values())))[0]  # type: ignore[index]

    def next_link(self) -> tuple[str, str]:
        """Return the next marker and link that the server prints."""
        words = self._printed.readline().split()
        return words[1], words[-1]

    def ask(self, path: str, data: Any = None, **headers: str) -> Answer:
        """Send a request; no redirect is followed."""
        body = None if data is None else data if isinstance(data, bytes) else json.dumps(data).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(path if path.startswith("http") else self.url + path, body, named)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=HANGS) as answer:
                return Answer(answer.status, answer.read().decode(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode(), dict(error.headers))

    def log_in(self, marker: str) -> dict[str, str]:
        """Use a marker's link; return the headers of a browser that opened a page, with the page's token."""
        cookie = self.ask(self.links[marker], Accept="text/html").headers["Set-Cookie"].partition(";")[0]
        page = self.ask(f"/{NAME}/essay/why", Cookie=cookie, Accept="text/html").text
        token = re.search(r'data-token="([^"]+)"', page)[1]  # type: ignore[index]
        return {"Cookie": cookie, "X_XSRFToken": token}

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
