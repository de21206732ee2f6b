"""Shows that the tag `together` survives the release, counts in a class run, and is marked for the teacher."""

import io
from pathlib import Path

import nbformat
from rich.console import Console

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.commands.grade.explain import explanation
from grader.commands.report.item_analysis import TOGETHER, analysed_tests
from grader.commands.report.load import load_class
from tests.support.notebooks import cell
from tests.support.small_class import NAME, SCORES, grade_class, make_class, points, released


def test_the_class_has_the_same_points_and_the_teacher_sees_which_were_judged_so(tmp_path: Path) -> None:
    """Of right, partly right, damaged, hostile and blank work; the release keeps the tag, which is harmless there.

    The source has it at one hidden test and at one that gives a part of its points; `grader grade --explain` and the
    report on the class mark these tests and no others.
    """
    folder = make_class(tmp_path / "course")
    path = folder / "source" / NAME / "small.ipynb"
    source = nbformat.read(path, as_version=4)
    for name in ("one-test-more", "two-check"):
        cell(source, name).metadata["tags"] = ["together"]
    nbformat.write(source, path)
    release(CourseDir(folder), NAME)
    assert "together" in cell(released(folder), "two-check").metadata["tags"]
    assert "together" not in cell(released(folder), "one-check").metadata.get("tags", [])
    assert grade_class(folder) == sorted(SCORES) and points(folder) == SCORES
    console = Console(file=io.StringIO(), width=100)
    for part in explanation(CourseDir(folder), NAME, "bob"):
        console.print(part)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    marked = [line.split("│")[1].strip() for line in lines if "(judged together)" in line]
    assert marked == ["one-test-more (judged together)", "two-check (judged together)"]
    notes = {test.name: test.notes for test in analysed_tests(load_class(CourseDir(folder), NAME))}
    assert notes == {"one-check": [], "one-test-more": [TOGETHER], "two-check": [TOGETHER]}
