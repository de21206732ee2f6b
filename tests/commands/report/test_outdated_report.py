"""A report says which points are older than the course, and counts by the points that the gradebook has."""

import copy
import csv
import json
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.commands.cli import main
from tests.support.changed_course import OLDER, OLDER_SENTENCE, graded, make_changed, source
from tests.support.notebooks import cell
from tests.support.plain_course import ASSIGNMENT, SOURCE, make, write

SAID = "4 students were graded before source/ changed."


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course as the working folder: ann is graded by the new points, and the others by the old ones."""
    folder = make_changed(tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the report."""
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_it_names_the_students_until_they_are_graded_again(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the page, in its files and on standard error. Points are the gradebook's, also by a source with others."""
    folder = course / "reports" / ASSIGNMENT
    assert main(["report", ASSIGNMENT]) == 0
    assert OLDER_SENTENCE in capsys.readouterr().err
    page = (folder / "index.html").read_text()
    assert SAID in page and page.count("graded before source/ changed") == 1 + len(OLDER)
    found = rows(folder, "students")
    assert [row["student"] for row in found if "graded before source/ changed" in row["remarks"]] == OLDER
    known = json.loads((folder / "report.json").read_text())["students"]
    assert {each["name"]: each["outdated"] for each in known} == {"ann": []} | dict.fromkeys(OLDER, ["source/"])
    assert main(["report", ASSIGNMENT, "--anonymous"]) == 0
    assert not any(name in capsys.readouterr().err for name in ("bob", "cat"))
    assert graded(course) == OLDER and main(["report", ASSIGNMENT]) == 0
    assert capsys.readouterr().err == ""
    assert SAID not in (folder / "index.html").read_text()
    write(source(points=9), course / "source" / ASSIGNMENT)
    assert main(["report", ASSIGNMENT]) == 0 and "5 students of" in capsys.readouterr().err
    ledger = read_ledger(CourseDir(course), ASSIGNMENT)
    found = rows(folder, "students")
    assert {row["student"]: float(row["points"]) for row in found} == {
        name: score.total.counted for name, score in ledger.by_student.items()
    }
    assert {float(row["max_points"]) for row in found} == {ledger.blank.total.max_points} == {6.0}
    assert [(row["exercise"], float(row["max_points"])) for row in rows(folder, "exercises")] == [("largest", 6.0)]


@pytest.mark.slow
def test_a_source_that_grading_refuses_has_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the same sentence (tests/classroom/test_cell_guard.py); the page of the last report stays as it was."""
    course = make(tmp_path / "course")
    graded(course)
    monkeypatch.chdir(course)
    assert main(["report", ASSIGNMENT]) == 0
    page = course / "reports" / ASSIGNMENT / "index.html"
    before = page.read_bytes()
    renamed = copy.deepcopy(SOURCE)
    cell(renamed, "largest-test-any").metadata.nbgrader["grade_id"] = "largest-test-all"
    write(renamed, course / "source" / ASSIGNMENT)
    said = []
    for command in ("grade", "report"):
        capsys.readouterr()
        assert main([command, ASSIGNMENT]) == 1
        said.append(capsys.readouterr().err)
    assert said[0] == said[1] and "largest-test-all was added" in said[1]
    write(SOURCE, course / "source" / ASSIGNMENT)
    nbformat.write(SOURCE, course / "source" / ASSIGNMENT / "more.ipynb")
    assert main(["report", ASSIGNMENT]) == 1 and "more.ipynb was added" in capsys.readouterr().err
    assert page.read_bytes() == before
