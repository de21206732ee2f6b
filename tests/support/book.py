"""Builds the book once for all tests of a worker, and serves it. The fixtures are in the conftest.py of those tests."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.paths import REPOSITORY


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book of this repository."""
    folder = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-m", "book", "--output", folder]
    made = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return folder / "html"


@pytest.fixture(scope="session")
def address(book: Path) -> Iterator[str]:
    """The address of a server that has the book."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(book))) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
