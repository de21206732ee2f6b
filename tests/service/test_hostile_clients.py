"""No client gains by it: foreign tokens, path tricks, oversized, slow or cross-site requests, floods, silent crowds."""

import http.client
import json
import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from traitlets import TraitError
from traitlets.config import Config

from grader.service.policy import Refusal
from grader.service.web.limits import ServiceLimits, Uploads
from tests.service.serving import Server, make_served_course, written
from tests.support.small_class import NAME
from tests.support.waiting import HANGS

BODY_SECONDS, HEADER_SECONDS, CONNECTIONS, PER_MINUTE = 1, 60, 200, 60
SETTINGS = f"""
c.HandIn.cooldown = 0
c.Limits.notebook_mb = 1
c.ServiceLimits.body_seconds = {BODY_SECONDS}
c.ServiceLimits.header_seconds = {HEADER_SECONDS}
c.ServiceLimits.connections = {CONNECTIONS}
c.ServiceLimits.requests_per_minute = {PER_MINUTE}
c.ServiceLimits.requests_at_once = 3
"""
PLACE = f"/hand-in/{NAME}/small"
TWO = "def two():\n    return 2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with tight limits."""
    server = Server(make_served_course(tmp_path_factory.mktemp("hostile") / "course", SETTINGS))
    yield server
    assert server.stop() == 0


def raw(server: Server, request: str, body: bytes = b"") -> socket.socket:
    """Send a request as it is, with the token of ann in place of TOKEN, and return the connection."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=HANGS)
    text = request.replace("TOKEN", server.tokens["ann"]).replace("\n", "\r\n")
    connection.sendall(f"{text}\r\n\r\n".encode() + body)
    return connection


def answer(connection: socket.socket) -> tuple[int, dict[str, str]]:
    """The status and the JSON that a connection delivers."""
    with connection:
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def nothing_accepted(server: Server) -> bool:
    """Whether no hand-in is in the store."""
    return server.ask("/health").json["hand_ins"] == {}


def test_only_the_right_token_opens(server: Server) -> None:
    """None, a wrong one, one in the address or in a cookie, and another kind of login are all refused alike."""
    token = server.tokens["ann"]
    key, _, secret = token.partition(".")
    for headers in (
        {},
        {"Authorization": f"Bearer {key}.{secret[:-1]}x"},
        {"Authorization": f"Bearer {server.tokens['bob'].partition('.')[0]}.{secret}"},
        {"Authorization": "Bearer " + "x" * 5000},
        {"Authorization": f"Basic {token}"},
        {"Authorization": f"Bearer {token}, Bearer {token}"},
        {"Cookie": f"token={token}; Authorization=Bearer {token}"},
    ):
        refused = server.ask(f"{PLACE}?token={token}", data=b"{}", **headers)
        assert refused.status == 401 and "token" in refused.json["error"]
        assert refused.headers["Www-Authenticate"] == "Bearer"
    assert nothing_accepted(server)


@pytest.mark.parametrize(
    "path",
    [
        "/hand-in/..%2f..%2fsubmitted/small",
        f"/hand-in/{NAME}/..%2f..%2f..%2fgradebook",
        f"/hand-in/{NAME}/small.ipynb",
        f"/hand-in/{NAME}/small%00",
        f"/hand-in/{NAME}%2fsmall/small",
        f"/hand-in/../source/{NAME}/small.ipynb",
        "/hand-in/%2e%2e/%2e%2e",
        "//etc/passwd",
    ],
)
def test_a_path_leads_nowhere(server: Server, path: str) -> None:
    """Only names of sources are known; what is asked for is named in words, as text in one line."""
    request = f"POST {path} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN\nContent-Length: 2"
    status, body = answer(raw(server, request, b"{}"))
    assert status in (404, 405) and body["error"] and "\n" not in body["error"]
    assert nothing_accepted(server) and not (server.folder / "submitted").exists()


@pytest.mark.parametrize(
    "path", ["/hand_ins.db", "/tokens.csv", "/hand-in/", "/hand-in", "/..", "/static/x", "/source/"]
)
def test_no_file_and_no_listing_is_delivered(server: Server, path: str) -> None:
    """The folder of the course is no part of the addresses."""
    status, body = answer(raw(server, f"GET {path} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN"))
    assert status == 404 and body == {"error": "there is nothing at this address"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_another_site_cannot_hand_in(server: Server, headers: dict[str, str]) -> None:
    """Even with the token: a browser says where a request comes from. And no answer allows other sites to read it."""
    refused = server.ask(PLACE, "ann", b"{}", **headers)
    assert refused.status == 403 and "another site" in refused.json["error"]
    assert not [name for name in refused.headers if name.lower().startswith("access-control")]
    assert nothing_accepted(server)


def test_a_large_notebook_is_refused_before_it_arrives(server: Server) -> None:
    """By its announced length, or, if it announces none, when it has become too large."""
    head = f"POST {PLACE} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN\n"
    status, body = answer(raw(server, f"{head}Content-Length: {2**40}"))
    assert status == 413 and "1 MB" in body["error"]
    chunk = b"80000\r\n" + b" " * 0x80000 + b"\r\n"
    status, body = answer(raw(server, f"{head}Transfer-Encoding: chunked", chunk + chunk + b"1\r\n \r\n"))
    assert status == 413 and "1 MB" in body["error"]
    assert nothing_accepted(server)


def test_a_slow_notebook_is_given_up(server: Server) -> None:
    """Its client reads why; the connection is closed."""
    head = f"POST {PLACE} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN\nContent-Length: 1000"
    status, body = answer(raw(server, head, b"{"))
    assert status == 408 and "within 1 seconds" in body["error"]
    assert nothing_accepted(server)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (f"POST {PLACE} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN\nContent-Length: 0", 400),
        (f"DELETE {PLACE} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN", 405),
        ("GET /hand-in/x?wait=nan HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN", 404),
        ("POST / HTTP/1.1\nHost: x\nContent-Length: 0", 401),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(server: Server, request_: str, status: int) -> None:
    """In JSON, with a fitting status."""
    answered, body = answer(raw(server, request_))
    assert answered == status and body["error"]


def test_a_crowd_that_sends_nothing_keeps_no_one_out(server: Server) -> None:
    """A thousand silent connections, five times as many as there is room for: a notebook is graded meanwhile."""
    with ExitStack() as crowd:
        for _ in range(1000):
            crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=HANGS))
        form = server.graded("bob", written(server.folder))
        assert form["report"]["points"] == 8
        open_connections = [
            float(line.split()[1])
            for line in server.ask("/metrics").body.decode().splitlines()
            if line.startswith("grader_connections ")
        ]
        assert 1 < open_connections[0] <= CONNECTIONS


def test_a_flood_by_one_student_is_slowed_down(server: Server) -> None:
    """With a number of seconds to wait; other students are served as before."""
    answers = [server.ask("/", "cat") for _ in range(PER_MINUTE + 10)]
    refused = [each for each in answers if each.status == 429]
    assert refused and int(refused[-1].headers["Retry-After"]) >= 1 and "in a minute" in refused[-1].json["error"]
    assert answers[PER_MINUTE - 1].status == 200 and server.ask("/", "dan").status == 200


def test_waiting_for_reports_takes_only_so_many_connections(server: Server) -> None:
    """A student who asks for more at a time is refused, and those that wait are answered."""
    for seconds in (1.5, 6, 24):  # a busy machine may have graded before three requests have come and a fourth is sent
        key = server.hand_in("eve", written(server.folder, two=f"import time\ntime.sleep({seconds})\n{TWO}")).json["id"]
        wait = f"GET /hand-in/{key}?wait=60 HTTP/1.1\nHost: x\nAuthorization: Bearer {server.tokens['eve']}"
        with ExitStack() as stack:
            waiting = [stack.enter_context(raw(server, wait)) for _ in range(3)]
            answered = selectors.DefaultSelector()
            answered.register(waiting[0], selectors.EVENT_READ)
            error = ""
            while not error and not answered.select(seconds / 10):
                error = server.ask("/", "eve").json.get("error", "")
            assert server.ask("/", "dan").status == 200
            assert {answer(connection)[0] for connection in waiting} == {200}
        if error:
            break
    assert "at a time" in error
    assert server.ask("/", "eve").status == 200


def test_the_bytes_in_memory_are_bounded() -> None:
    """Of all hand-ins that arrive together; what has been stored makes room."""
    uploads = Uploads(ServiceLimits(upload_mb=1))
    uploads.add(2**20)
    with pytest.raises(Refusal) as refused:
        uploads.add(1)
    assert refused.value.status == 503 and refused.value.retry_after
    uploads.remove(2**20)
    uploads.add(2**20)


def test_a_misspelt_limit_is_refused() -> None:
    """traitlets would keep the default."""
    with pytest.raises(TraitError, match="no c.ServiceLimits.connection"):
        ServiceLimits(config=Config(ServiceLimits={"connection": 5}))


def test_no_secret_is_in_the_log(server: Server) -> None:
    """Neither a token nor a query, which might hold one."""
    log = (Path(server.folder) / "serve.log").read_text()
    assert PLACE in log and "?" not in log and "Bearer" not in log
    assert not any(token.partition(".")[2] in log for token in server.tokens.values())
