"""Runs `grader mark` on a course and asks it as browsers do, and as others would like to."""

import json
import re
from pathlib import Path
from typing import Any

from tests.commands.mark.marked_course import NAME
from tests.support.served import Answer, Served


class Server(Served):
    """A `grader mark`; its log goes to mark.log in the course folder."""

    def __init__(self, folder: Path, *markers: str) -> None:
        options = (f"--marker={marker}" for marker in markers)
        super().__init__(folder, "mark", NAME, "--no-browser", "--bind=127.0.0.1:0", *options)
        self.links = dict(self.next_link() for _ in markers or ("me",))
        self.url = re.match(r"http://[^/]+", next(iter(self.links.values())))[0]  # type: ignore[index]

    def next_link(self) -> tuple[str, str]:
        """Return the next marker and link that the server prints."""
        words = self.words()
        return words[1], words[-1]

    def ask(self, path: str, data: Any = None, **headers: str) -> Answer:
        """Send a request; no redirect is followed."""
        return self.send(path, data if data is None or isinstance(data, bytes) else json.dumps(data).encode(), headers)

    def log_in(self, marker: str) -> dict[str, str]:
        """Use a marker's link; return the headers of a browser that opened a page, with the page's token."""
        cookie = self.ask(self.links[marker], Accept="text/html").headers["Set-Cookie"].partition(";")[0]
        page = self.ask(f"/{NAME}/essay/why", Cookie=cookie, Accept="text/html").text
        token = re.search(r'data-token="([^"]+)"', page)[1]  # type: ignore[index]
        return {"Cookie": cookie, "X_XSRFToken": token}
