"""Builds the book once, for all tests that look at it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book of this repository."""
    folder = tmp_path_factory.mktemp("book")
    made = subprocess.run(
        [sys.executable, "-m", "book", "--output", folder], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return folder / "html"
