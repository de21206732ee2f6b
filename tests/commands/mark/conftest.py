"""Shares a graded class with answers to mark, and a browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from grader.classroom.course_dir import CourseDir
from tests.commands.mark.marked_course import make_mixed
from tests.commands.mark.marker import chromium


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class; tests do not change it."""
    return make_mixed(tmp_path_factory.mktemp("mixed") / "course").root


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> CourseDir:
    """A copy of the class to change."""
    return CourseDir(shutil.copytree(graded, tmp_path / "course"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of a module."""
    with chromium() as browser:
        yield browser
