"""`grader feedback` writes the pages after marking, and returns them by the service and by nbgrader's exchange."""

from pathlib import Path

import pytest

from grader.classroom.page.summary import OUTDATED
from grader.classroom.returned import RETURNED, ReturnedFolder
from grader.commands.cli import main
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, mark, released

COMMENT = "A fine reason."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with two graded students, whose written answers wait."""
    folder = make_course(tmp_path / "course")
    for student in ("ann", "bob"):
        hand_in(folder, student, answered(released(folder), **RIGHT))
    grade_class(folder)
    monkeypatch.chdir(folder)
    return folder


def page(folder: Path, student: str, step: str = RETURNED) -> str:
    """Return a student's page."""
    return (folder / step / student / NAME / "small.html").read_text()


def test_marked_work_goes_back_and_half_marked_work_does_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page and the points are those of the gradebook; who waits for a mark is named, until --unmarked."""
    mark(folder, "ann", 0.5, COMMENT)
    assert main(["feedback", NAME]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "returned the work of 1 student"
    assert second == ("not returned, because answers wait for a mark: 1 student (bob); mark them, or add --unmarked")
    returned = ReturnedFolder(folder)
    assert COMMENT in page(folder, "ann") and page(folder, "ann") == page(folder, "ann", "feedback")
    work = returned.of(NAME, "ann")
    assert work is not None and (work.notebooks["small"].points, work.notebooks["small"].waiting) == (8.5, 0)
    assert returned.of(NAME, "bob") is None and returned.page(NAME, "bob", "small") is None
    assert main(["feedback", NAME, "--student", "bob", "--unmarked"]) == 0
    assert capsys.readouterr().out == "returned the work of 1 student\n"
    work = returned.of(NAME, "bob")
    assert work is not None and (work.notebooks["small"].points, work.notebooks["small"].waiting) == (8, 2)


@pytest.mark.slow
def test_points_that_are_older_than_the_course_are_returned_with_a_notice(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command names the students, and the pages say it until they are graded again."""
    for student in ("ann", "bob"):
        mark(folder, student, 1, COMMENT)
    main(["feedback", NAME])
    assert "graded before" not in capsys.readouterr().out and OUTDATED not in page(folder, "ann", "feedback")
    source = folder / "source" / NAME / "small.ipynb"
    source.write_text(source.read_text().replace("assert one() == 1", "assert one() == 1 and one(1) == 1"))
    main(["feedback", NAME, "--student", "ann"])
    assert "1 student of 01-small was graded before source/ changed" in capsys.readouterr().out
    assert OUTDATED in page(folder, "ann", "feedback")
    grade_class(folder)
    main(["feedback", NAME])
    assert "graded before" not in capsys.readouterr().out and OUTDATED not in page(folder, "ann", "feedback")


def test_a_page_is_made_again_only_if_it_changes(folder: Path) -> None:
    """Nothing is rendered for a class in which nothing changed, but a page that is gone comes back."""
    main(["feedback", NAME, "--unmarked"])
    pages = {student: folder / "feedback" / student / NAME / "small.html" for student in ("ann", "bob")}
    before = {student: each.stat().st_ino for student, each in pages.items()}
    pages["bob"].unlink()
    mark(folder, "ann", 1, COMMENT)
    main(["feedback", NAME, "--unmarked"])
    assert pages["bob"].exists() and pages["ann"].stat().st_ino != before["ann"]
    before = {student: each.stat().st_ino for student, each in pages.items()}
    main(["feedback", NAME, "--unmarked"])
    assert {student: each.stat().st_ino for student, each in pages.items()} == before


def test_wrong_names_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence says what to do, and nothing is returned; before grading there is nothing to return."""
    for arguments, says in (
        (["none"], "no assignment 'none' in source/, which has 01-small"),
        ([NAME, "--student", "zoe"], f"nothing of 'zoe' is graded in {NAME}: correct the name, or run"),
    ):
        assert main(["feedback", *arguments]) == 1
        assert says in capsys.readouterr().err and not (folder / RETURNED).exists()
    monkeypatch.chdir(make_course(tmp_path / "ungraded"))
    assert main(["feedback", NAME]) == 1
    assert "run 'grader grade" in capsys.readouterr().err


def test_a_student_whose_page_cannot_be_written_or_leave_stops_no_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the student, with nbgrader's reason, and the status is 1; the service has the other's page."""
    (folder / "autograded" / "ann" / NAME / "small.ipynb").write_text("{")
    (folder / "exchange" / "attention").mkdir(parents=True)
    (folder / "exchange" / "attention" / "feedback").write_text("not a folder")
    (folder / "exchange").chmod(0o777)
    assert main(["feedback", NAME, "--unmarked"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("grader: ann: the pages could not be written (")
    assert "bob: not returned through the exchange (" in said.err
    assert said.out == "returned the work of 1 student\n" and ReturnedFolder(folder).of(NAME, "bob") is not None
