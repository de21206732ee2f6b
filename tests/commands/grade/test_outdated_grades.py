"""`grader grade` and students' pages say whose points are older than the course."""

from pathlib import Path

import pytest

from grader.classroom.page.summary import OUTDATED
from grader.commands.cli import main
from tests.support.changed_course import OLDER, OLDER_SENTENCE, graded, make_changed
from tests.support.plain_course import ASSIGNMENT, SOURCE, write

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course as the working folder: ann is graded by the new points, and the others by the old ones."""
    folder = make_changed(tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def noticed(course: Path) -> list[str]:
    """Return the students whose pages say that they are outdated: the overview and that of the notebook, or none."""
    found = []
    for folder in sorted((course / "feedback").iterdir()):
        pages = [OUTDATED in (folder / ASSIGNMENT / f"{page}.html").read_text() for page in ("index", "plain")]
        assert len(set(pages)) == 1
        found += [folder.name] if all(pages) else []
    return found


def test_the_table_of_grading_and_explain_say_it_too(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below a table of the one who was graded stands that the others were not."""
    assert main(["grade", ASSIGNMENT, "--student", "ann"]) == 0
    said = capsys.readouterr()
    assert OLDER_SENTENCE in said.err and "bob" not in said.out
    for student, words in (("bob", "1 student of 01-plain was graded before source/ changed"), ("ann", "")):
        assert main(["grade", ASSIGNMENT, "--explain", student]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert words in shown and ("graded before" in shown) == bool(words)
    # A student whose work is gone from submitted/ cannot be graded again, and keeps a row with a remark.
    for file in sorted((course / "submitted" / "bob").rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    (course / "submitted" / "bob").rmdir()
    assert main(["grade", ASSIGNMENT]) == 0
    said = capsys.readouterr()
    assert "graded before source/ changed" in " ".join(said.out.split()) and "1 student of" in said.err


def test_pages_say_it_until_they_are_new(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run for one student marks the pages of the others; undoing the change marks that of the one."""
    assert noticed(course) == []
    assert main(["grade", ASSIGNMENT, "--student", "ann"]) == 0
    assert noticed(course) == OLDER
    write(SOURCE, course / "source" / ASSIGNMENT)
    assert main(["grade", ASSIGNMENT, "--student", "bob"]) == 0
    assert noticed(course) == ["ann"] and "1 student of" in capsys.readouterr().err
    assert main(["grade", ASSIGNMENT, "--changed", "--yes", "--student", "bob"]) == 0
    assert "there is nothing to write" in capsys.readouterr().out and noticed(course) == ["ann"]
    # What a person accepts is written with its fingerprint, as by any other run.
    assert main(["grade", ASSIGNMENT, "--changed", "--yes"]) == 0 and noticed(course) == []
    assert "graded before" not in capsys.readouterr().err and graded(course) == []
