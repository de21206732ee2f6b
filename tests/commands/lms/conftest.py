"""A course with three students for the tests of `grader import`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.commands.cli import main
from tests.commands.lms.import_course import Course
from tests.support.idle import end_parsers


@pytest.fixture(scope="module", autouse=True)
def no_reader_left() -> Iterator[None]:
    """End the readers after the last test."""
    yield
    end_parsers()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Course:
    """A course folder whose gradebook has the students."""
    folder = tmp_path / "course"
    made = Course(folder, capsys)
    monkeypatch.chdir(folder)
    assert main(["roster", "students.csv"]) == 0
    capsys.readouterr()
    return made
