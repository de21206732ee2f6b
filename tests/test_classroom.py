"""The course folder as nbgrader's configuration describes it."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from small_class import NAME, hand_in, make_course, released
from traitlets.config import Config

from course import new_gradebook
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
    assert classroom.students(NAME, only=["zoe", "zoe"]) == ["zoe"]
    with pytest.raises(CourseError, match="no submission of '01-small' by 'bob'"):
        classroom.students(NAME, only=["zoe", "bob"])


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ("directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'", "submitted/01-small/ann"),
        ("submitted_directory = '{elsewhere}'", "../elsewhere/ann/01-small"),
        ("root = '{elsewhere}'", "../elsewhere/submitted/ann/01-small"),
        ("student_id_exclude = 'bob,cat'", "submitted/ann/01-small"),
        ("student_id = 'a*'", "submitted/ann/01-small"),
    ],
)
def test_students_are_found_where_nbgrader_finds_them(classroom, setting, place):
    """However its folders are nested and wherever they lie; whom it leaves out is left out."""
    elsewhere = classroom.root.parent / "elsewhere"
    with (classroom.root / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.{setting.replace('{elsewhere}', str(elsewhere))}\n")
    (classroom.root / place).mkdir(parents=True)
    hand_in(classroom.root, "bob", None)
    hand_in(classroom.root, ".hidden", None)
    (classroom.root / "submitted" / "file").mkdir()
    (classroom.root / "submitted" / "file" / NAME).touch()
    changed = Classroom(classroom.root)
    assert changed.students(NAME) == ["ann"]
    assert changed.folder("submitted", NAME, "ann") == (classroom.root / place).resolve()


def test_what_a_person_set_for_all_courses_holds(classroom, tmp_path, monkeypatch):
    """As for nbgrader's own commands, unless the course says otherwise; what is wrong there is named."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    (tmp_path / "nbgrader_config.json").write_text('{"CourseDirectory": {"feedback_directory": "words"}}')
    (tmp_path / "jupyter_config.py").write_text(
        "c.LateSubmissionPlugin.penalty_method = 'zero'\nc.CourseDirectory.course_id = 'another'\n"
    )
    config = Classroom(classroom.root).config
    assert config.LateSubmissionPlugin.penalty_method == "zero" and config.CourseDirectory.feedback_directory == "words"
    assert config.CourseDirectory.course_id == "attention"
    (tmp_path / "nbgrader_config.py").write_text("c.Limits = =")
    with pytest.raises(CourseError, match="nbgrader_config.py cannot be read: SyntaxError"):
        Classroom(classroom.root)


def test_a_missing_configuration_says_where_it_was_looked_for(tmp_path):
    """The message names the file and the folder."""
    with pytest.raises(CourseError, match=f"nbgrader_config.py.*{tmp_path.name}"):
        Classroom(tmp_path)


def test_a_broken_configuration_is_told(tmp_path):
    """A typing error in it is one line, not a traceback."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(\n")
    with pytest.raises(CourseError, match="nbgrader_config.py"):
        Classroom(tmp_path)


def test_a_new_gradebook_is_that_of_nbgrader(tmp_path):
    """It has the same tables and columns, and the same version for `nbgrader db upgrade`; a second look keeps it."""
    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    program = [sys.executable, "-c", f"from nbgrader.api import Gradebook; Gradebook('sqlite:///{theirs}').close()"]
    subprocess.run(program, check=True)
    for _ in range(2):
        new_gradebook.make(f"sqlite:///{ours}")
    assert _schema(ours) == _schema(theirs)


def _schema(path):
    """The columns of every table and the version of the whole."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: [row[1:4] for row in database.execute(f"PRAGMA table_info({table})")] for table in tables}
        return columns, database.execute("SELECT version_num FROM alembic_version").fetchall()


def test_a_gradebook_that_is_none_is_told(classroom):
    """In a line, not a traceback."""
    (classroom.root / "gradebook.db").write_text("points: 100\n" * 1000)
    with pytest.raises(CourseError, match="the gradebook cannot be read or written .*not a database"):
        register(classroom, NAME)


def test_a_gradebook_needs_no_program(tmp_path, monkeypatch):
    """Where the environment is not activated, as in a cron job, a new gradebook is made all the same."""
    monkeypatch.setenv("PATH", str(tmp_path))
    classroom = Classroom(make_course(tmp_path / "course"))
    register(classroom, NAME)
    with classroom.gradebook() as gradebook:
        assert [assignment.name for assignment in gradebook.assignments] == [NAME]


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
