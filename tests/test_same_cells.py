"""Cells and notebooks that came or went after grading: who is told what, and that what it says helps."""

import copy

import nbformat
import pytest
from notebooks import cell, check, hidden
from small_class import NAME, SOURCE, hand_in, make_course, points, released, run

from course.classroom import Classroom
from course.cli import main
from course.errors import CourseError
from course.release import register, release


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder, and the working one, with one student who was graded."""
    folder = make_course(tmp_path / "course")
    hand_in(folder, "ann", released(folder))
    monkeypatch.chdir(folder)
    register(Classroom(folder), NAME)
    with Classroom(folder).gradebook() as gradebook:
        gradebook.add_student("ann")
        gradebook.add_submission(NAME, "ann")
    return folder


def write(course, *, add=(), remove=()):
    """Writes the source with cells more or less."""
    source = copy.deepcopy(SOURCE)
    for name in remove:
        source.cells.remove(cell(source, name))
    source.cells.extend(copy.deepcopy(add))
    nbformat.write(source, course / "source" / NAME / "small.ipynb")


NEW = hidden("one-test-new", "one(x) is x again.", "assert one(4) == 4", points=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"add": [NEW]}, "one-test-new was added:"),
        ({"remove": ["one-check", "imports"]}, "imports and one-check were removed:"),
        ({"add": [NEW], "remove": ["two-check"]}, "one-test-new was added, two-check was removed:"),
        (
            {"remove": ["why"], "add": [check("why", "pass", points=2)]},
            "why was made another kind of cell:",
        ),
    ],
)
def test_grading_names_the_cells(course, capsys, changes, words):
    """In one line, with what may be done."""
    write(course, **changes)
    assert main(["grade", NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"course: cannot prepare '{NAME}' from source/: small.ipynb must keep its ")
    assert words in line and "nbgrader db assignment remove" in line


def test_grading_names_the_notebooks(course, capsys):
    """Whole notebooks have no place either: one that was renamed went, and another came."""
    (course / "source" / NAME / "small.ipynb").rename(course / "source" / NAME / "large.ipynb")
    assert main(["grade", NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"course: cannot prepare '{NAME}' from source/: it must keep its notebooks")
    assert "large.ipynb was added, small.ipynb was removed:" in line and "nbgrader db assignment remove" in line


def test_what_the_line_says_helps(course, capsys):
    """A test that is put into a cell that is there, and an assignment that is forgotten: both can be graded again."""
    source = copy.deepcopy(SOURCE)
    cell(source, "one-check").source += "\nassert one(2) == 2"
    nbformat.write(source, course / "source" / NAME / "small.ipynb")
    assert main(["grade", NAME]) == 0 and points(course) == {"ann": 0}
    write(course, add=[NEW])
    assert main(["grade", NAME]) == 1
    (command,) = (words for words in capsys.readouterr().err.split("'") if words.startswith("nbgrader db"))
    assert run(course, *command.split()).returncode == 0
    assert main(["grade", NAME]) == 0 and points(course) == {"ann": 0}


def test_before_anybody_is_graded_cells_may_change(course):
    """The rule is for what was graded; a release does not ask the gradebook."""
    write(course, add=[NEW])
    with pytest.raises(CourseError, match="one-test-new was added"):
        register(Classroom(course), NAME)
    release(Classroom(course), NAME)
    with Classroom(course).gradebook() as gradebook:
        gradebook.remove_submission(NAME, "ann")
    register(Classroom(course), NAME)
    with Classroom(course).gradebook() as gradebook:
        assert gradebook.find_grade_cell("one-test-new", "small", NAME).max_score == 2


def test_nbgraders_own_command_says_the_same(course):
    """In its log; without the gradebook there is nothing to say."""
    write(course, add=[NEW])
    done = run(course, "nbgrader", "generate_assignment", NAME, "--force")
    assert done.returncode != 0 and "small.ipynb must keep its" in done.stderr and "one-test-new" in done.stderr
    assert run(course, "nbgrader", "generate_assignment", NAME, "--force", "--no-db").returncode == 0
