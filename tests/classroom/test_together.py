"""Shows that the tag `together` survives the release, counts in a class run, and is marked for the teacher."""

import io
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.commands.grade.explain import explanation
from grader.commands.report.item_analysis import TOGETHER, analysed_tests
from grader.commands.report.load import load_class
from tests.support.notebooks import cell
from tests.support.small_class import NAME, SCORES, grade_class, make_class, points, released


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class; its source has the tag at one hidden test and at one that gives a part of its points."""
    folder = make_class(tmp_path_factory.mktemp("together") / "course")
    path = folder / "source" / NAME / "small.ipynb"
    source = nbformat.read(path, as_version=4)
    for name in ("one-test-more", "two-check"):
        cell(source, name).metadata["tags"] = ["together"]
    nbformat.write(source, path)
    release(CourseDir(folder), NAME)
    assert grade_class(folder) == sorted(SCORES)
    return folder


def test_the_release_keeps_the_tag(folder: Path) -> None:
    """A tag is harmless in a student's notebook."""
    assert "together" in cell(released(folder), "two-check").metadata["tags"]
    assert "together" not in cell(released(folder), "one-check").metadata.get("tags", [])


def test_the_class_has_the_same_points(folder: Path) -> None:
    """Right, partly right, damaged, hostile and blank work."""
    assert points(folder) == SCORES


def test_the_teacher_sees_which_points_were_judged_so(folder: Path) -> None:
    """`grader grade --explain` marks these tests and no others, and so does the report on the class."""
    console = Console(file=io.StringIO(), width=100)
    for part in explanation(CourseDir(folder), NAME, "bob"):
        console.print(part)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    marked = [line.split("│")[1].strip() for line in lines if "(judged together)" in line]
    assert marked == ["one-test-more (judged together)", "two-check (judged together)"]
    notes = {test.name: test.notes for test in analysed_tests(load_class(CourseDir(folder), NAME))}
    assert notes == {"one-check": [], "one-test-more": [TOGETHER], "two-check": [TOGETHER]}
