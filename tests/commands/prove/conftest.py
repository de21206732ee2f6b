"""A course folder for the tests of `grader prove`, with the files that the `save` of their module writes."""

from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A course folder, which is the working folder too."""
    (tmp_path / "nbgrader_config.py").write_bytes((REPOSITORY / "nbgrader_config.py").read_bytes())
    request.module.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
