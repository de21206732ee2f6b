"""Only markers can read and mark, and only from the page: links work once, other sites and names get nothing."""

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
from tests.commands.mark.marked_course import NAME, CourseDir
from tests.commands.mark.marking_server import Server

WHY = f"/{NAME}/essay/why"
PATHS = (
    *("/", f"/{NAME}/", WHY, f"{WHY}/changes?after=0", f"{WHY}/history/00", f"{WHY}/picture/00/0", "/nothing"),
    f"{WHY}?names=1",
    *(f"/?token={quote(guess)}" for guess in ("", "x", "None", "%00", "é")),
)
CHANGES = ("hold", "release", "mark", "comment", "forget")


@pytest.fixture(scope="module")
def root(graded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the class that the tests share."""
    return shutil.copytree(graded, tmp_path_factory.mktemp("access") / "course")


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    """A server that the tests share."""
    server = Server(root, "ada", "bob", "cem")
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


def marks(root: Path) -> dict[str, float | None]:
    """Return the points that a person gave."""
    return {name: mark.given.points for name, mark in MarkBook(CourseDir(root), NAME).read(("essay", "why")).items()}


@pytest.mark.parametrize("path", PATHS)
def test_without_a_link_there_is_nothing(server: Server, path: str) -> None:
    """No page, no state, and no hint whether a question exists; a guessed token or cookie opens none."""
    for cookie in ("", "grader-mark-1=x", f"grader-mark-{server.url.rpartition(':')[2]}=guessed"):
        answer = server.ask(path, Cookie=cookie)
        assert answer.status == 401 and "open the link" in answer.json["error"]
        assert "It *rains*" not in answer.text and "ann" not in answer.text and "Set-Cookie" not in answer.headers


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


def test_another_name_of_this_machine_is_refused(server: Server, ada: dict[str, str]) -> None:
    """A site can point its name here, and its page would then count as ours."""
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "[::2]"):
        answer = server.ask(WHY, Host=host, **ada)
        assert answer.status == 403 and "127.0.0.1 or localhost" in answer.json["error"]
        assert server.ask(server.links["cem"], Host=host).status == 403
    assert server.ask(WHY, Host="localhost:9000", Accept="text/html", **ada).status == 200, "a tunnel has other ports"


def test_a_forged_request_changes_nothing(root: Path, server: Server, ada: dict[str, str]) -> None:
    """With the cookie and without the page's token, with another marker's, from another origin, as a form."""
    mark, before = body(server, ada), marks(root)
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
    assert marks(root) == before and not (root / "marking").exists()


def test_what_is_not_there_is_not_found(server: Server, ada: dict[str, str]) -> None:
    """Names in addresses are looked up, and a request that is none is refused in a sentence."""
    for data in (b"", b"{", b"[]", b"null", b"\xff", b'{"tab": 1}', b'{"points": 1}', b'{"group": "x"}'):
        answer = server.ask(f"{WHY}/mark", data, **ada)
        assert answer.status == 400 and "reload the page" in answer.json["error"]
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


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([NAME, "--bind=127.0.0.1:0"], "another 'grader mark' uses"),  # one says what holds which answer
        (["02"], "no assignment '02' in source/"),
        ([NAME, "--bind=0.0.0.0:0"], "listens on this machine only"),
        ([NAME, "--bind=x"], "--bind wants HOST:PORT"),
        ([NAME, "--bind=127.0.0.1:0", "--marker=a/b"], "a/b"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    course: CourseDir, server: Server, options: list[str], why: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Before a page is opened. On a hub, students are users, too: without a list of markers, all of them could mark."""
    monkeypatch.chdir(server.folder if "another" in why else course.root)
    assert main(["mark", "--no-browser", *options]) == 1
    assert why in capsys.readouterr().err
    assert (server.folder / MARK_LOCK).exists() and server.ask("/").status == 401
    with pytest.raises(GraderError, match=r"set c\.Marking\.markers"):
        HubMarkers([])
