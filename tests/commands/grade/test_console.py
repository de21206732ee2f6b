"""The last line of `grader grade --changed` counts who gains, who loses and who stays."""

from pathlib import Path

import pytest

from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import CellScore, NotebookScore
from grader.commands.cli import main
from grader.commands.grade.changes import ChangedTest, StudentChange
from grader.commands.grade.console import summary
from tests.support.small_class import NAME, hand_in, make_course


def having(points: float) -> SubmissionScore:
    """The scores of a student with these points."""
    return SubmissionScore("ann", notebooks={"small": NotebookScore(points)})


@pytest.mark.parametrize(
    ("before_and_after", "students", "line"),
    [
        ([(8, 9)] * 9 + [(8, 5)] * 3, 300, "12 of 300 students change: 9 gain, 3 lose; 288 stay as they are"),
        ([(8, 7), (4, 4)], 2, "1 of 2 students changes: 0 gain, 1 loses; 1 stays as before"),
        ([(None, 7), (None, 8)], 4, "0 of 4 students change; 2 stay as they are; 2 graded for the first time"),
        ([], 5, "0 of 5 students change; 5 stay as they are"),
    ],
)  # fmt: skip
def test_the_summary_counts_students(
    before_and_after: list[tuple[float | None, float]], students: int, line: str
) -> None:
    """Those who gain, lose, stay, and are new; one whose tests cancel out keeps the total, and changes."""
    changes = [
        StudentChange("ann", [], False, None if before is None else having(before), having(after))
        for before, after in before_and_after
    ]
    assert summary(changes, students) == line
    tests = [
        ChangedTest("small", name, CellScore(5, before), CellScore(5, after), CellScore(5))
        for name, before, after in (("one-check", 1, 0), ("two-check", 4, 5))
    ]
    change = StudentChange("ann", tests, False, having(8), having(8))
    assert summary([change], 1) == "1 of 1 student changes: 0 gain, 0 lose, 1 keeps the total; 0 stay as they are"


@pytest.mark.slow
def test_no_name_is_broken_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs read lines; names of the roster and students who handed in nothing are in the table, too."""
    course = make_course(tmp_path / "course")
    monkeypatch.chdir(course)
    monkeypatch.delenv("COLUMNS", raising=False)
    student, name = "a-very-long-login@department.university.example.org", "Maximiliane von und zu Hohenstein-Waldeck"
    hand_in(course, student, None)
    (course / "file.csv").write_text(f"id,first_name\n{student},{name}\nbob,Bob\n")
    assert main(["roster", "file.csv"]) == 0 and main(["grade", NAME]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if student in line)
    assert name in row and "small.ipynb was not handed in" in row
    assert any("bob" in line and "has not handed in" in line for line in lines)
    assert main(["grade", NAME, "--student", student]) == 0
    assert "bob" not in capsys.readouterr().out
