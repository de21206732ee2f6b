"""Cells and notebooks that were added or removed after grading are refused, with a message that helps."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import register, release
from grader.commands.cli import main
from grader.errors import GraderError
from tests.support.notebooks import cell, check, hidden
from tests.support.small_class import NAME, SOURCE, hand_in, ledger, make_course, points, released, run

NEW = hidden("one-test-new", "one(x) is x again.", "assert one(4) == 4", points=2)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder with one student who was graded; it is the working folder too."""
    folder = make_course(tmp_path / "course")
    hand_in(folder, "ann", released(folder))
    monkeypatch.chdir(folder)
    register(CourseDir(folder), NAME)
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.add_student("ann")
        gradebook.add_submission(NAME, "ann")
    return folder


def write_source(course: Path, *, add: Sequence[nbformat.NotebookNode] = (), remove: Sequence[str] = ()) -> None:
    """Write the source with some cells more or fewer."""
    source = copy.deepcopy(SOURCE)
    for name in remove:
        source.cells.remove(cell(source, name))
    source.cells.extend(copy.deepcopy(add))
    nbformat.write(source, course / "source" / NAME / "small.ipynb")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"add": [NEW]}, "one-test-new was added:"),
        ({"remove": ["one-check", "imports"]}, "imports and one-check were removed:"),
        ({"add": [NEW], "remove": ["two-check"]}, "one-test-new was added, two-check was removed:"),
        (
            {"remove": ["why"], "add": [check("why", "pass", points=2)]},
            "why was given another type:",
        ),
    ],
)
def test_grading_names_the_cells(
    course: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], words: str
) -> None:
    """In one line that also says what to do."""
    write_source(course, **changes)
    assert main(["grade", NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"grader: cannot prepare '{NAME}' from source/: small.ipynb must keep its ")
    assert words in line and "nbgrader db assignment remove" in line


def test_grading_names_the_notebooks(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A renamed notebook is one that was removed and one that was added."""
    (course / "source" / NAME / "small.ipynb").rename(course / "source" / NAME / "large.ipynb")
    assert main(["grade", NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"grader: cannot prepare '{NAME}' from source/: it must keep its notebooks")
    assert "large.ipynb was added, small.ipynb was removed:" in line and "nbgrader db assignment remove" in line


@pytest.mark.slow
def test_following_the_message_helps(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new test in an existing cell can be graded, and so can an assignment that was removed from the gradebook."""
    source = copy.deepcopy(SOURCE)
    cell(source, "one-check").source += "\nassert one(2) == 2"
    nbformat.write(source, course / "source" / NAME / "small.ipynb")
    assert main(["grade", NAME]) == 0 and points(course) == {"ann": 0}
    write_source(course, add=[NEW])
    assert main(["grade", NAME]) == 1
    (command,) = (words for words in capsys.readouterr().err.split("'") if words.startswith("nbgrader db"))
    assert run(course, *command.split()).returncode == 0
    assert main(["grade", NAME]) == 0 and points(course) == {"ann": 0}


def test_before_a_student_is_graded_cells_may_change(course: Path) -> None:
    """The rule applies to a graded assignment only, and a release does not read the gradebook."""
    write_source(course, add=[NEW])
    with pytest.raises(GraderError, match="one-test-new was added"):
        register(CourseDir(course), NAME)
    release(CourseDir(course), NAME)
    with CourseDir(course).gradebook() as gradebook:
        gradebook.remove_submission(NAME, "ann")
    register(CourseDir(course), NAME)
    with CourseDir(course).gradebook() as gradebook:
        assert gradebook.find_grade_cell("one-test-new", "small", NAME).max_score == 2


@pytest.mark.slow
def test_nbgraders_own_command_gives_the_same_message(course: Path) -> None:
    """In its log, and the gradebook stays as it is; without the gradebook there is nothing to refuse."""
    before = ledger(course)
    write_source(course, add=[NEW])
    for command in ("generate_assignment", "autograde"):
        done = run(course, "nbgrader", command, NAME, "--force")
        assert done.returncode != 0 and "small.ipynb must keep its" in done.stderr and "one-test-new" in done.stderr
    assert ledger(course) == before
    assert run(course, "nbgrader", "generate_assignment", NAME, "--force", "--no-db").returncode == 0
