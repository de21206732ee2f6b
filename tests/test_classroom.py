"""The course folder as nbgrader's configuration describes it."""

import os

import pytest
from small_class import NAME, hand_in, make_course, released
from traitlets.config import Config

from course.classroom import Classroom
from course.errors import CourseError
from course.release import register, release


@pytest.fixture
def classroom(tmp_path):
    """A course with one assignment and nothing handed in."""
    return Classroom(make_course(tmp_path / "course"))


def test_folders_are_nbgraders(classroom):
    """Also where the configuration calls them something else."""
    assert classroom.folder("submitted", NAME, "ann") == classroom.root / "submitted" / "ann" / NAME
    with (classroom.root / "nbgrader_config.py").open("a") as config:
        config.write('c.CourseDirectory.submitted_directory = "handed_in"\n')
    assert Classroom(classroom.root).folder("submitted", NAME, "ann").parent.parent.name == "handed_in"


def test_assignments_are_the_folders_of_source_that_hold_notebooks(classroom):
    """In order; other folders and files are none."""
    (classroom.root / "source" / "00-empty").mkdir()
    (classroom.root / "source" / "notes.ipynb").touch()
    assert classroom.assignments() == [NAME] and classroom.require(NAME) == classroom.folder("source", NAME)
    with pytest.raises(CourseError, match="no assignment '00-empty'"):
        classroom.require("00-empty")


def test_students_are_those_who_handed_in(classroom):
    """In order; a student of another assignment is none of this one."""
    with pytest.raises(CourseError, match="nbgrader collect"):
        classroom.students(NAME)
    for student in ("zoe", "ann"):
        hand_in(classroom.root, student, released(classroom.root))
    (classroom.root / "submitted" / "bob" / "02-other").mkdir(parents=True)
    assert classroom.students(NAME) == ["ann", "zoe"]


def test_a_missing_configuration_says_where_it_was_looked_for(tmp_path):
    """The message names the file and the folder."""
    with pytest.raises(CourseError, match=f"nbgrader_config.py.*{tmp_path.name}"):
        Classroom(tmp_path)


def test_a_broken_configuration_is_told(tmp_path):
    """A typing error in it is one line, not a traceback."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(\n")
    with pytest.raises(CourseError, match="nbgrader_config.py"):
        Classroom(tmp_path)


def test_an_environment_without_a_path_is_enough(tmp_path, monkeypatch):
    """As in a cron job; nbgrader's helper programs are found beside Python."""
    monkeypatch.delenv("PATH", raising=False)
    Classroom(make_course(tmp_path / "course"))
    assert os.environ["PATH"]


def test_what_stops_nbgrader_is_told(classroom):
    """A source that nbgrader refuses (one name twice) ends in a CourseError that says so."""
    path = classroom.root / "source" / NAME / "small.ipynb"
    path.write_text(path.read_text().replace('"one-check"', '"two-check"'))
    with pytest.raises(CourseError, match="cannot prepare '01-small' from source/: .*two-check"):
        release(classroom, NAME)


def test_registering_leaves_the_release_alone(classroom):
    """The gradebook learns what source/ holds; what students have stays as it was given out."""
    page = classroom.root / "release" / NAME / "small.ipynb"
    page.write_text("as given out")
    register(classroom, NAME)
    assert page.read_text() == "as given out"
    with classroom.gradebook() as gradebook:
        cells = gradebook.find_notebook("small", NAME).grade_cells
        assert {cell.name: cell.max_score for cell in cells} == (
            {"one-check": 1, "one-test-more": 2, "two-check": 5, "why": 2}
        )


def test_a_run_changes_only_what_it_is_told(classroom):
    """The configuration of a Classroom is not changed by running a converter."""
    before = classroom.config.copy()
    release(classroom, NAME)
    assert classroom.config == before and isinstance(classroom.config, Config)
