"""Runs `grader serve` on a small course and asks it as clients do."""

import http.client
import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.commands.serve.accounts import TOKENS, make_tokens
from tests.support import notebooks
from tests.support.notebooks import answered, check, notebook
from tests.support.served import Answer, Served
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


class Server(Served):
    """A `grader serve`; its log goes to serve.log in the course folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, "serve", "--bind=127.0.0.1:0", *options)
        self.tokens = tokens(folder)
        self.url = self.words()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def ask(self, path: str, student: str = "", data: bytes | None = None, **headers: str) -> Answer:
        """Send a request, with the token of a student if one is given."""
        token = {"Authorization": f"Bearer {self.tokens[student]}"} if student else {}
        return self.send(path, data, headers | token)

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
