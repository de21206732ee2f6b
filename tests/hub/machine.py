"""Runs the hub of deploy/jupyterhub as a department does, in namespaces of its own.

The hub, its users, their homes and the network exist only in there. So the configuration runs as it stands, with its
ports and paths, beside whatever this machine runs, and all of it ends with the first process.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.namespaces import SPACES, refused, unshared
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS, until

PROXY = REPOSITORY / ".venv" / "proxy" / "node_modules" / ".bin"
"""Where .ci/run installs configurable-http-proxy."""
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PASSWORD = "correct horse"
URL = "http://127.0.0.1:8000"


def missing() -> str:
    """Return what this machine lacks to run a hub; nothing if it has everything."""
    if BROWSER is None:
        return "pip cannot install Chromium; .ci/run does"
    if not (PROXY / "configurable-http-proxy").exists():
        return "pip cannot install configurable-http-proxy; .ci/run does, with npm"
    return refused()


LACKING = missing()
NEEDS_A_HUB = [pytest.mark.skipif(bool(LACKING), reason=LACKING), pytest.mark.xdist_group("tests/hub")]
"""Marks of every test that uses the machine: one process runs them all."""


class Machine:
    """A machine with a hub, and the users prof, ada and bob."""

    def __init__(self, course: Path, log: Path) -> None:
        """Start the hub.

        Args:
            course: a course folder, which is copied.
            log: where the hub and the service log.
        """
        environment = {"PATH": f"{PROXY}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
        with log.open("w") as file:
            self._unshare = subprocess.Popen(
                unshared(sys.executable, "-m", "tests.hub.boot", course, PASSWORD),
                cwd=REPOSITORY, env=environment, stdout=file, stderr=file,
            )  # fmt: skip
        self._log = log
        self._wait_for(self._first_process)
        for address in ("hub/health", "services/grader/health"):
            self._wait_for(partial(self._answers, address))

    def run(self, user: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user of the machine."""
        return subprocess.run(
            [*self.inside(*SPACES), "runuser", "--user", user, "--", *command],
            cwd="/", capture_output=True, text=True, timeout=HANGS,
        )  # fmt: skip

    def inside(self, *spaces: str) -> list[str]:
        """Return how a command begins that runs in some of the machine's namespaces."""
        return ["nsenter", "--target", self._first_process(), *spaces, "--"]

    def browser(self, folder: Path) -> Path:
        """Return a program that starts a browser in the machine's network; it is written into a folder."""
        program = folder / "browser"
        program.write_text(f'#!/bin/sh\nexec {" ".join(self.inside("--net"))} {BROWSER} "$@"\n')
        program.chmod(0o755)
        return program

    def stop(self) -> None:
        """End every process of the machine."""
        self._unshare.kill()
        self._unshare.wait()

    def _first_process(self) -> str:
        return Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text().strip()

    def _answers(self, address: str) -> bool:
        question = f"import urllib.request; urllib.request.urlopen('{URL}/{address}', timeout=60)"
        command = [*self.inside("--net"), sys.executable, "-c", question]
        return subprocess.run(command, capture_output=True).returncode == 0

    def _wait_for(self, is_there: Callable[[], object]) -> None:
        try:
            until(lambda: is_there() or self._unshare.poll() is not None, "the hub")
            assert self._unshare.poll() is None, "it has ended"
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"the hub does not start:\n{self._log.read_text()[-5000:]}") from error
