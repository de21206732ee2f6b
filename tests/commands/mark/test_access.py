"""Only markers can read and mark, and only from the page: links work once, other sites and names get nothing."""

import json
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from grader.classroom.gradebook.marks import MarkBook
from grader.commands.cli import main
from grader.commands.mark.main import _open
from grader.commands.mark.web.access import HubMarkers
from grader.commands.shared import MARK_LOCK
from grader.errors import GraderError
from tests.commands.mark.marked_course import NAME, CourseDir, make_mixed
from tests.commands.mark.marking_server import Server

WHY = f"/{NAME}/essay/why"
PATHS = (
    *("/", f"/{NAME}/", WHY, f"{WHY}/changes?after=0", f"{WHY}/history/00", f"{WHY}/picture/00/0", "/nothing"),
    f"{WHY}?names=1",
)
CHANGES = ("hold", "release", "mark", "comment", "forget")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDir:
    """A graded class."""
    return make_mixed(tmp_path_factory.mktemp("access") / "course")


@pytest.fixture(scope="module")
def server(course: CourseDir) -> Iterator[Server]:
    """A server that the tests share."""
    server = Server(course.root, "ada", "bob", "cem")
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def ada(server: Server) -> dict[str, str]:
    """The headers of ada's page."""
    return server.log_in("ada")


def states(server: Server, headers: dict[str, str]) -> list[dict[str, object]]:
    """Return the states of all answers."""
    found: list[dict[str, object]] = server.ask(f"{WHY}/changes?after=0&tab=x", **headers).json["states"]
    return found


def body(server: Server, headers: dict[str, str], **changes: object) -> dict[str, object]:
    """Return a mark that is accepted, unless it is changed."""
    first = states(server, headers)[0]
    return {"tab": "t", "group": first["group"], "version": first["version"], "points": 1, "comment": ""} | changes


def marks(course: CourseDir) -> dict[str, float | None]:
    """Return the points that a person gave."""
    return {name: mark.given.points for name, mark in MarkBook(course, NAME).read(("essay", "why")).items()}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", ["", "grader-mark-1=x", "grader-mark-{port}=guessed"])
def test_without_a_link_there_is_nothing(server: Server, path: str, cookie: str) -> None:
    """No page, no state, and no hint whether a question exists."""
    answer = server.ask(path, Cookie=cookie.format(port=server.url.rpartition(":")[2]))
    assert answer.status == 401 and "open the link" in answer.json["error"]
    assert "It *rains*" not in answer.text and "ann" not in answer.text


def test_a_link_works_once(server: Server) -> None:
    """It leaves no token in the address; used again, it begins no session, and the terminal has a new one."""
    first = server.ask(server.links["bob"], Accept="text/html")
    assert first.status == 302 and "token" not in first.headers["Location"]
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    again = server.ask(server.links["bob"], Accept="text/html")
    assert again.status == 401 and "printed a new one" in again.text and "Set-Cookie" not in again.headers
    marker, link = server.next_link()
    assert marker == "bob" and link != server.links["bob"]
    assert server.ask(server.links["bob"]).status == 401, "and no further link for the same old one"
    own = server.ask(server.links["bob"], Accept="text/html", Cookie=cookie.partition(";")[0])
    assert own.status == 302, "who has a session goes on"
    assert "Set-Cookie" in server.ask(link).headers


@pytest.mark.parametrize("guess", ["", "x", "None", "%00", "é"])
def test_a_guessed_token_is_no_link(server: Server, guess: str) -> None:
    """Whatever it is."""
    answer = server.ask(f"/?token={quote(guess)}")
    assert answer.status == 401 and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "[::2]"])
def test_another_name_of_this_machine_is_refused(server: Server, ada: dict[str, str], host: str) -> None:
    """A site can point its name here, and its page would then count as ours."""
    answer = server.ask(WHY, Host=host, **ada)
    assert answer.status == 403 and "127.0.0.1 or localhost" in answer.json["error"]
    assert server.ask(server.links["cem"], Host=host).status == 403
    assert server.ask(WHY, Host="localhost:9000", Accept="text/html", **ada).status == 200, "a tunnel has other ports"


def test_a_forged_request_changes_nothing(course: CourseDir, server: Server, ada: dict[str, str]) -> None:
    """With the cookie and without the page's token, with another marker's, from another origin, as a form."""
    mark, before = body(server, ada), marks(course)
    cookie = {"Cookie": ada["Cookie"]}
    others = server.log_in("cem")["X_XSRFToken"]
    forged = [
        cookie,
        cookie | {"X_XSRFToken": ""},
        cookie | {"X_XSRFToken": others},
        cookie | {"X_XSRFToken": "é"},
        ada | {"Origin": "https://evil.example"},
        ada | {"Sec_Fetch_Site": "cross-site"},
        ada | {"Sec_Fetch_Site": "same-site", "Origin": server.url.replace("127.0.0.1", "localhost")},
        {"X_XSRFToken": ada["X_XSRFToken"]},
    ]
    for headers in forged:
        for change in CHANGES:
            assert server.ask(f"{WHY}/{change}", mark, **headers).status in (401, 403), (change, headers)
        assert server.ask(f"/{NAME}/undo", {}, **headers).status in (401, 403)
    for path in (f"{WHY}/mark", f"/{NAME}/undo"):
        assert server.ask(path, **ada).status == 405, "a picture or a link of another site is a GET"
    assert marks(course) == before and not (course.root / "marking").exists()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"tab": 1}', b'{"points": 1}', json.dumps({"group": "x"}).encode()],
)
def test_a_request_that_is_none_is_refused(server: Server, ada: dict[str, str], data: bytes) -> None:
    """In a sentence."""
    answer = server.ask(f"{WHY}/mark", data, **ada)
    assert answer.status == 400 and "reload the page" in answer.json["error"]


def test_what_is_not_there_is_not_found(server: Server, ada: dict[str, str]) -> None:
    """Names in addresses are looked up."""
    for path in ("/02/", f"/{NAME}/essay/nothing", f"/{NAME}/../../etc/passwd", f"/{NAME}/essay/..%2f..%2fx", "/x/y"):
        assert server.ask(path, **ada).status == 404, path
    unknown = server.ask(f"{WHY}/mark", body(server, ada, group="0" * 20), **ada)
    assert unknown.status == 400 and "no such answer" in unknown.json["error"]
    assert server.ask(f"{WHY}/hold", {"tab": "t", "group": "../x"}, **ada).status == 404
    assert server.ask(f"{WHY}/picture/{'0' * 20}/0", **ada).status == 404
    too_long = server.ask(f"{WHY}/mark", body(server, ada, comment="x" * 11_000), **ada)
    assert too_long.status == 400 and "write a shorter one" in too_long.json["error"]


def test_pages_are_closed_to_everything_foreign(server: Server, ada: dict[str, str]) -> None:
    """A strict policy, no script or style inside, no address of another server, no student's name unless asked for."""
    answer = server.ask(WHY, Accept="text/html", **ada)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not re.search(r"<script(?![^>]*\b(?:src|type=\"application/json\"))|<style| style=| on\w+=", answer.text)
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', answer.text)
    assert not re.search(r"\b(?:ann|cat|dan)\b", answer.text)
    named = server.ask(f"{WHY}?names=1", Accept="text/html", **ada).text
    assert "ann, bob" in named


def test_the_link_in_a_browser_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others on the machine see the arguments of programs: the browser gets the name of a file."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    _open(tmp_path / "page.html", "http://127.0.0.1:1/?token=secret&x")
    assert opened == [(tmp_path / "page.html").as_uri()] and "secret" not in opened[0]
    assert "token=secret&amp;x" in (tmp_path / "page.html").read_text()
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600


def test_only_one_server_marks_a_course(
    course: CourseDir, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what holds which answer; a second one would not know."""
    monkeypatch.chdir(course.root)
    assert main(["mark", NAME, "--no-browser", "--bind=127.0.0.1:0"]) == 1
    assert "another 'grader mark' uses" in capsys.readouterr().err
    assert (course.root / MARK_LOCK).exists() and server.ask("/").status == 401


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["02"], "no assignment '02' in source/"),
        ([NAME, "--bind=0.0.0.0:0"], "listens on this machine only"),
        ([NAME, "--bind=x"], "--bind wants HOST:PORT"),
        ([NAME, "--bind=127.0.0.1:0", "--marker=a/b"], "a/b"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    course: CourseDir,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    why: str,
) -> None:
    """Before a page is opened."""
    monkeypatch.chdir(shutil.copytree(course.root, tmp_path / "course"))
    assert main(["mark", "--no-browser", *options]) == 1
    assert why in capsys.readouterr().err


def test_a_hub_needs_named_markers() -> None:
    """On a hub, students are users, too: without a list, everyone with access could mark."""
    with pytest.raises(GraderError, match=r"set c\.Marking\.markers"):
        HubMarkers([])
