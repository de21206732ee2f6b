"""`hand_in()` sends a token to the address that it was given with, and believes no settings that others may change."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from IPython.display import HTML

from grader_kernel import handing_in
from grader_kernel.service import SETTINGS, Problem, Service

VARIABLES = ("HAND_IN_URL", "HAND_IN_TOKEN", "JUPYTERHUB_API_TOKEN", "JUPYTERHUB_API_URL")


class Listener(ThreadingHTTPServer):
    """A server that notes the tokens that it hears, and refuses every notebook, or sends clients elsewhere."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Noting)
        self.heard: list[str] = []
        self.sends_to = ""
        self.status = 302

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class Noting(BaseHTTPRequestHandler):
    """Answers one request of a listener."""

    server: Listener

    def do_GET(self) -> None:
        """Note the token and answer."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.heard.append(self.headers["Authorization"].removeprefix("Bearer "))
        self.send_response(self.server.status if self.server.sends_to else 200)
        self.send_header("Location", self.server.sends_to)
        self.end_headers()
        self.wfile.write(b'{"state": "refused", "error": "heard"}')

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def listeners() -> Iterator[tuple[Listener, Listener]]:
    """Two servers."""
    with ExitStack() as cleanup:
        made = Listener(), Listener()
        for listener in made:
            cleanup.callback(listener.server_close)
            Thread(target=listener.serve_forever, args=(0.01,)).start()
            cleanup.callback(listener.shutdown)
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a notebook, in the home of a student for whom nothing is set."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "class" / "01-small"
    folder.mkdir(parents=True)
    (folder / "small.ipynb").write_text("{}")
    return folder


def handed_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Hand in the notebook, and return what stands below the cell."""
    shown: list[str] = []

    class Area:
        def update(self, page: HTML) -> None:
            shown.append(re.sub(r"<[^>]+>", "", page.data))

    monkeypatch.setattr(handing_in, "display", lambda *_, **__: Area())
    handing_in.hand_in(folder / "small.ipynb", now=True)
    return shown[-1]


def write(folder: Path, **settings: str) -> Path:
    """Write the settings of a class."""
    file = folder / SETTINGS
    file.write_text("".join(f'{name} = "{text}"\n' for name, text in settings.items()))
    file.chmod(0o644)
    return file


def test_the_hubs_token_goes_where_the_hub_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, listeners: tuple[Listener, Listener]
) -> None:
    """And not to an address in a file, not even one with the hub's own origin, where students have servers, too."""
    stranger, hub = listeners
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "hub-token")
    monkeypatch.setenv("JUPYTERHUB_API_URL", f"{hub.url}/hub/api")
    for place, url in ((folder, stranger.url), (folder.parent, stranger.url), (folder, f"{hub.url}/user/eve/proxy/1")):
        file = write(place, url=url)
        words = handed_in(folder, monkeypatch)
        assert f"You have no token for {url}: write" in words and "goes to the address in HAND_IN_URL only" in words
        file.unlink()
    assert stranger.heard == hub.heard == []
    write(folder, url=stranger.url)
    monkeypatch.setenv("HAND_IN_URL", f"{hub.url}/services/grader")
    assert handed_in(folder, monkeypatch) == "Not graded: heard." and (stranger.heard, hub.heard) == ([], ["hub-token"])


@pytest.mark.parametrize(
    ("environment", "settings", "heard"),
    [
        ({}, {"url": "first", "token": "file"}, "file"),
        ({"HAND_IN_URL": "first", "HAND_IN_TOKEN": "own"}, {"url": "second", "token": "file"}, "own"),
        ({"HAND_IN_URL": "first"}, {"token": "file"}, "file"),
        ({"HAND_IN_URL": "first"}, {"url": "first/class", "token": "file"}, "file"),
        ({"HAND_IN_URL": "first"}, {"url": "second", "token": "file"}, ""),
        ({"HAND_IN_TOKEN": "own"}, {"url": "first"}, ""),
        ({"HAND_IN_TOKEN": "own"}, {"url": "first", "token": "file"}, "file"),
    ],
)
def test_a_token_goes_to_the_address_beside_it(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    listeners: tuple[Listener, Listener],
    environment: dict[str, str],
    settings: dict[str, str],
    heard: str,
) -> None:
    """A file's token to the file's address, one of the environment to that of the environment."""

    def filled(texts: dict[str, str]) -> dict[str, str]:
        urls = {"first": listeners[0].url, "second": listeners[1].url}
        return {name: re.sub("first|second", lambda found: urls[found[0]], text) for name, text in texts.items()}

    for name, text in filled(environment).items():
        monkeypatch.setenv(name, text)
    write(folder, **filled(settings))
    words = handed_in(folder, monkeypatch)
    assert listeners[0].heard == ([heard] if heard else []) and listeners[1].heard == []
    assert words.startswith("Not graded: heard." if heard else "You have no token for ")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_follows_no_redirect(
    folder: Path, monkeypatch: pytest.MonkeyPatch, listeners: tuple[Listener, Listener], status: int
) -> None:
    """Neither to another address nor to another path, when handing in or asking for a report; the words say where."""
    service, other = listeners
    service.sends_to, service.status = f"{other.url}/x", status
    write(folder, url=service.url, token="class-token")
    words = handed_in(folder, monkeypatch)
    assert "Not handed in: the service is not at " in words and f"says {other.url}/x: ask your teacher" in words
    with pytest.raises(Problem, match="is not at"):
        Service(service.url, "class-token").ask("hand-in/1?wait=1")
    assert service.heard == ["class-token"] * 2 and other.heard == []


def test_settings_that_others_may_change_do_not_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch, listeners: tuple[Listener, Listener]
) -> None:
    """Those farther above do, if no one but the student and root may change them; if there are none, words say why."""
    stranger, service = listeners
    near = write(folder, url=stranger.url, token="other")
    near.chmod(0o666)
    words = handed_in(folder, monkeypatch)
    assert f"{near} does not count, because other users may write to it: copy it into" in words
    above = write(folder.parent, url=service.url, token="own")
    assert handed_in(folder, monkeypatch) == "Not graded: heard."
    near.chmod(0o644)
    if os.geteuid() == 0:  # only root can give a file away
        os.chown(near, 65534, -1)
        assert handed_in(folder, monkeypatch) == "Not graded: heard."
        above.unlink()
        assert f"{near} does not count, because it belongs to another user" in handed_in(folder, monkeypatch)
    assert stranger.heard == [] and set(service.heard) == {"own"}


def test_settings_that_cannot_be_read_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the student's own, and another file is not taken in their place."""
    file = write(folder)
    file.write_text("url = ")
    write(folder.parent, url="http://127.0.0.1:9", token="t")
    assert f"{file} cannot be read (Invalid value" in handed_in(folder, monkeypatch)
