"""No client gains by it: foreign tokens, path tricks, oversized or cross-site requests."""

from pathlib import Path

import pytest

from tests.commands.serve.serving import Server, answer, raw
from tests.support.small_class import NAME

SETTINGS = "c.Limits.notebook_mb = 1\n"
PLACE = f"/hand-in/{NAME}/small"
TOKEN = "HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN"


def nothing_accepted(server: Server) -> bool:
    """Whether no hand-in has a receipt."""
    return b"\ngrader_hand_ins_accepted_total 0.0\n" in server.ask("/metrics").body


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
    status, body = answer(raw(server, f"POST {path} {TOKEN}\nContent-Length: 2", b"{}"))
    assert status in (400, 404, 405) and body["error"] and "\n" not in body["error"]
    assert nothing_accepted(server) and not (server.folder / "submitted").exists()


def test_no_file_and_no_listing_is_delivered(server: Server) -> None:
    """The folder of the course is no part of the addresses, and what makes no sense is refused in words."""
    for path in ("/hand_ins.db", "/tokens.csv", "/hand-in/", "/hand-in", "/..", "/static/x", "/source/"):
        status, body = answer(raw(server, f"GET {path} {TOKEN}"))
        assert status == 404 and body == {"error": "there is nothing at this address"}
    for request, expected in (
        (f"POST {PLACE} {TOKEN}\nContent-Length: 0", 400),
        (f"DELETE {PLACE} {TOKEN}", 405),
        (f"GET /hand-in/x?wait=nan {TOKEN}", 404),
        ("POST / HTTP/1.1\nHost: x\nContent-Length: 0", 401),
    ):
        status, body = answer(raw(server, request))
        assert status == expected and body["error"]


def test_another_site_cannot_hand_in(server: Server) -> None:
    """Even with the token: a browser says where a request comes from. And no answer allows other sites to read it."""
    for headers in (
        {"Sec_Fetch_Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ):
        refused = server.ask(PLACE, "ann", b"{}", **headers)
        assert refused.status == 403 and "another site" in refused.json["error"]
        assert not [name for name in refused.headers if name.lower().startswith("access-control")]
    assert nothing_accepted(server)


def test_a_large_notebook_is_refused_before_it_arrives(server: Server) -> None:
    """By its announced length, or, if it announces none, when it has become too large."""
    head = f"POST {PLACE} {TOKEN}\n"
    status, body = answer(raw(server, f"{head}Content-Length: {2**40}"))
    assert status == 413 and "1 MB" in body["error"]
    chunk = b"80000\r\n" + b" " * 0x80000 + b"\r\n"
    status, body = answer(raw(server, f"{head}Transfer-Encoding: chunked", chunk + chunk + b"1\r\n \r\n"))
    assert status == 413 and "1 MB" in body["error"]
    assert nothing_accepted(server)


def test_no_secret_is_in_the_log(server: Server) -> None:
    """Neither a token nor a query, which might hold one."""
    log = (Path(server.folder) / "serve.log").read_text()
    assert PLACE in log and "?" not in log and "Bearer" not in log
    assert not any(token.partition(".")[2] in log for token in server.tokens.values())
