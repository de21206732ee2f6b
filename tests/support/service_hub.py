"""Starts a JupyterHub with one service of a course, whose users log in with one password."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.hub.machine import PROXY
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS, answers, until

PASSWORD = "correct horse"
MAKER = "0123456789abcdef" * 4
"""The token of a program that makes users and their tokens."""
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = ["{program}"]
c.ConfigurableHTTPProxy.pid_file = "proxy.pid"
c.JupyterHub.db_url, c.JupyterHub.cookie_secret_file = "sqlite:///hub.sqlite", "cookie_secret"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{password}"
c.Authenticator.allow_all = True
c.JupyterHub.services = [
    {{
        "name": "course", "url": "http://127.0.0.1:{service}", "command": ["{python}", "-m", "grader", "{command}"],
        "cwd": "{course}", "oauth_no_confirm": True, "environment": {{"PYTHONPATH": "{repository}"}},
    }},
    {{"name": "maker", "api_token": "{maker}"}},
]
c.JupyterHub.load_roles = [
    {{"name": "user", "scopes": ["self", "access:services!service=course"]}},
    {{"name": "maker", "scopes": ["admin:users", "tokens"], "services": ["maker"]}},
]
"""
needs_proxy = pytest.mark.skipif(
    not (PROXY / "configurable-http-proxy").exists(),
    reason="pip cannot install configurable-http-proxy; .ci/run does, with npm",
)


@dataclass(frozen=True)
class ServiceHub:
    """A running hub.

    Args:
        address: that of the service for browsers, behind the hub's proxy.
        inside: that of the service for programs on this machine.
        api: that of the hub's own interface.
        course: the course folder.
    """

    address: str
    inside: str
    api: str
    course: Path

    def token(self, user: str) -> str:
        """Return a new token of a user, who is made if necessary: what the user's server gets from the hub."""
        self._ask("users", {"usernames": [user]})
        return str(self._ask(f"users/{user}/tokens", {})["token"])

    def _ask(self, path: str, form: dict[str, Any]) -> Any:
        data, headers = msgspec.json.encode(form), {"Authorization": f"token {MAKER}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{self.api}/{path}", data, headers)) as answer:
                return msgspec.json.decode(answer.read())
        except urllib.error.HTTPError as error:
            assert error.code == 409, error.read()  # the user exists
            return None


@contextmanager
def service_hub(course: Path, command: str, folder: Path, ready: str) -> Iterator[ServiceHub]:
    """Run a hub that starts `grader COMMAND`, and yield it once the service answers.

    Args:
        course: the course folder.
        command: the command.
        folder: an empty folder for the hub.
        ready: an address of the service, below its own, that needs no user.
    """
    ports = dict(zip(("proxy", "hub", "api", "service"), free_ports(4), strict=True))
    config = CONFIG.format(
        **ports, program=PROXY / "configurable-http-proxy", password=PASSWORD, python=sys.executable,
        course=course, command=command, repository=REPOSITORY, maker=MAKER,
    )  # fmt: skip
    (folder / "jupyterhub_config.py").write_text(config)
    environment = {**os.environ, "PATH": f"{PROXY}:{os.environ['PATH']}"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub"], cwd=folder, env=environment, stdout=log, stderr=log
        )
    address, inside = (f"http://127.0.0.1:{ports[port]}/services/course/" for port in ("proxy", "service"))
    try:
        until(lambda: answers(f"{address}{ready}") or process.poll() is not None, "the hub")
        assert process.poll() is None, (folder / "log").read_text()[-5000:]
        yield ServiceHub(address, inside, f"http://127.0.0.1:{ports['proxy']}/hub/api", course)
    finally:
        process.terminate()
        process.wait(HANGS)


def free_ports(number: int) -> list[int]:
    """Return ports that no one uses."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
