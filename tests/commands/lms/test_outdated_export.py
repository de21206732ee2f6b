"""No file of grades mixes points of two versions of an assignment without a word."""

import csv
from pathlib import Path

import pytest
from nbgrader.apps.exportapp import ExportApp

from grader.commands.cli import main
from tests.support.changed_course import OLDER, OLDER_SENTENCE, graded, make_changed
from tests.support.nbgrader_programs import run_program
from tests.support.plain_course import ASSIGNMENT

LEFT_OUT = f"{OLDER_SENTENCE}; left out (--outdated puts them in)"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course as the working folder: ann has 6 of 6 points, and the others have points of 3."""
    folder = make_changed(tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def rows(course: Path, *options: str, status: int = 0) -> list[dict[str, str]]:
    """Return the rows of an export."""
    assert main(["export", ASSIGNMENT, *options, "--output", "out.csv"]) == status
    with (course / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "key"), [("canvas", "SIS Login ID"), ("moodle", "id")])
def test_platforms_get_no_older_points_unless_they_are_wanted(
    course: Path, capsys: pytest.CaptureFixture[str], platform: str, key: str
) -> None:
    """Students would see 1 of 6; the status says that the file is not complete."""
    found = {row[key]: row[ASSIGNMENT] for row in rows(course, "--for", platform, status=1) if row[key]}
    assert found == {"ann": "6"} and LEFT_OUT in capsys.readouterr().err
    found = {row[key]: row[ASSIGNMENT] for row in rows(course, "--for", platform, "--outdated") if row[key]}
    assert found.pop("eve") and found == {"ann": "6", "bob": "1", "cat": "1", "dan": "0"}
    said = capsys.readouterr().err
    assert OLDER_SENTENCE in said and "left out (--outdated" not in said
    assert graded(course) == OLDER
    assert len(rows(course, "--for", platform)) >= 5 and OLDER_SENTENCE not in capsys.readouterr().err


@pytest.mark.slow
def test_the_table_marks_older_points(
    course: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Status, standard error and nbgrader's export say the same; a source that cannot be read stops no export."""
    found = rows(course, "--for", "csv", status=1)
    assert [row["student_id"] for row in found if row["outdated"] == "yes"] == OLDER and len(found) == 5
    assert OLDER_SENTENCE in capsys.readouterr().err
    rows(course, "--for", "csv", "--outdated")
    assert OLDER_SENTENCE in capsys.readouterr().err
    plugin = "grader.commands.lms.export.CanvasExportPlugin"
    ended, said = run_program(ExportApp, caplog, f"--exporter={plugin}", "--to=theirs.csv")
    assert ended == 0 and f"{OLDER_SENTENCE}; left out (--CanvasExportPlugin.outdated puts them in)" in said
    assert "ann" in (course / "theirs.csv").read_text() and "bob" not in (course / "theirs.csv").read_text()
    notebook = course / "source" / ASSIGNMENT / "plain.ipynb"
    notebook.write_text("{")
    capsys.readouterr()
    assert len(rows(course, "--for", "csv")) == 5
    assert f"whether points of {ASSIGNMENT} are older than source/ is not known" in capsys.readouterr().err
    notebook.unlink()
    assert len(rows(course, "--for", "csv")) == 5 and "older" not in capsys.readouterr().err
