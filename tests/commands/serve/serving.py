"""Runs `grader serve` on a small course and asks it as clients do."""

import http.client
import json
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.commands.serve.accounts import TOKENS, make_tokens
from tests.support import notebooks, warm
from tests.support.notebooks import answered, check, notebook
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SOURCE, make_course, released
from tests.support.waiting import HANGS, until

OTHER = notebook(
    notebooks.answer("three", "def three():\n    ### BEGIN SOLUTION\n    return 3\n    ### END SOLUTION"),
    check("three-check", "assert three() == 3, 'three() is 3'", points=4),
)
MISCONCEPTION = """
[[misconception]]
name = "adds one"
find = "return x"
replace = "return x + 1"
hint = "Leave it as it is."
"""
STUDENTS = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ivy", "kim")


@dataclass
class Answer:
    """An answer of the service."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON."""
        form: dict[str, Any] = json.loads(self.body)
        return form


class Server:
    """A service in a process of its own; its log goes to serve.log in the course folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.tokens = folder, tokens(folder)
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        command = ["grader", "serve", "--bind=127.0.0.1:0", *options]
        reading, writing = os.pipe()
        with (folder / "serve.log").open("a") as log, open(os.devnull) as nothing, open(writing, "w"):
            self.process = warm.start(command, folder, environment, (nothing.fileno(), writing, log.fileno()))
        self._printed = open(reading)  # noqa: SIM115
        self.url = self._printed.readline().split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def ask(self, path: str, student: str = "", data: bytes | None = None, **headers: str) -> Answer:
        """Send a request, with the token of a student if one is given."""
        if student:
            headers["Authorization"] = f"Bearer {self.tokens[student]}"
        request = urllib.request.Request(
            self.url + path, data, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        try:
            with urllib.request.urlopen(request, timeout=HANGS) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), dict(error.headers))

    def hand_in(self, student: str, data: bytes, assignment: str = NAME, name: str = "small") -> Answer:
        """Hand in a notebook."""
        return self.ask(f"/hand-in/{assignment}/{name}", student, data)

    def report(self, student: str, key: str) -> dict[str, Any]:
        """Wait until a hand-in is neither waiting nor being graded, and return what the service then tells."""
        form: dict[str, Any] = {}

        def is_ready() -> bool:
            form.update(self.ask(f"/hand-in/{key}?wait=10", student).json)
            return form["state"] not in ("waiting", "grading")

        until(is_ready, "the report")
        return form

    def await_grading(self, student: str, key: str) -> None:
        """Wait until a hand-in does not wait any more."""
        until(lambda: self.ask(f"/hand-in/{key}", student).json["state"] != "waiting", "its turn")

    def graded(self, student: str, data: bytes, *place: str) -> dict[str, Any]:
        """Hand in a notebook, and return the state with the report."""
        receipt = self.hand_in(student, data, *place)
        assert receipt.status == 202, receipt
        return self.report(student, receipt.json["id"])

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


def raw(server: Server, request: str, body: bytes = b"", student: str = "ann") -> socket.socket:
    """Send a request as it is, with the token of a student in place of TOKEN, and return the connection."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=HANGS)
    text = request.replace("TOKEN", server.tokens[student]).replace("\n", "\r\n")
    connection.sendall(f"{text}\r\n\r\n".encode() + body)
    return connection


def answer(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON that a connection delivers."""
    with connection:
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def tokens(folder: Path) -> dict[str, str]:
    """Return the tokens in the tokens.csv of a course folder."""
    return dict(line.split(",")[:2] for line in (folder / TOKENS).read_text().splitlines()[1:])


def make_served_course(folder: Path, settings: str = "", more: Sequence[str] = ()) -> Path:
    """Make a course with tokens for STUDENTS: one assignment with two notebooks, and `more` with one."""
    make_course(folder)
    for name in more:
        (folder / "source" / name).mkdir()
        nbformat.write(SOURCE, folder / "source" / name / "small.ipynb")
    (folder / "source" / NAME / "misconceptions").mkdir()
    (folder / "source" / NAME / "misconceptions" / "one.toml").write_text(MISCONCEPTION)
    nbformat.write(OTHER, folder / "source" / NAME / "other.ipynb")
    release(CourseDir(folder), NAME)
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    make_tokens(folder, STUDENTS)
    return folder


def written(folder: Path, **answers: str) -> bytes:
    """Return a notebook with right answers but for those given."""
    return nbformat.writes(answered(released(folder), **RIGHT | answers)).encode()


def other(folder: Path, three: str = "def three():\n    return 3") -> bytes:
    """Return the other notebook, with an answer."""
    blank = nbformat.read(folder / "release" / NAME / "other.ipynb", as_version=4)
    return nbformat.writes(answered(blank, three=three)).encode()
