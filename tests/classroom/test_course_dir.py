"""The course folder is as nbgrader's configuration describes it."""

import multiprocessing
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.course_dir import CourseDir, make_tables
from grader.classroom.release import register, release
from grader.errors import GraderError
from tests.support.small_class import NAME, configure, hand_in, make_course, released


@pytest.fixture
def course_dir(tmp_path: Path) -> CourseDir:
    """A course with one assignment and no submission."""
    return CourseDir(make_course(tmp_path / "course"))


def test_assignments_are_the_folders_of_source_that_hold_notebooks(course_dir: CourseDir) -> None:
    """In order; an empty folder and a single notebook are no assignments."""
    (course_dir.root / "source" / "00-empty").mkdir()
    (course_dir.root / "source" / "notes.ipynb").touch()
    assert course_dir.assignments() == [NAME] and course_dir.require(NAME) == course_dir.folder("source", NAME)
    with pytest.raises(GraderError, match="no assignment '00-empty'"):
        course_dir.require("00-empty")


def test_students_are_those_with_a_submission(course_dir: CourseDir) -> None:
    """In order, and only those who submitted this assignment."""
    with pytest.raises(GraderError, match="nbgrader collect"):
        course_dir.students(NAME)
    for student in ("zoe", "ann"):
        hand_in(course_dir.root, student, released(course_dir.root))
    (course_dir.root / "submitted" / "bob" / "02-other").mkdir(parents=True)
    assert course_dir.students(NAME) == ["ann", "zoe"]
    assert course_dir.students(NAME, only=["zoe", "zoe"]) == ["zoe"]
    with pytest.raises(GraderError, match="no submission of '01-small' by 'bob'"):
        course_dir.students(NAME, only=["zoe", "bob"])


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
def test_students_are_found_where_nbgrader_finds_them(course_dir: CourseDir, setting: str, place: str) -> None:
    """With any nesting and any place of its folders; students that nbgrader leaves out are left out."""
    elsewhere = course_dir.root.parent / "elsewhere"
    configure(course_dir.root, f"c.CourseDirectory.{setting.replace('{elsewhere}', str(elsewhere))}")
    (course_dir.root / place).mkdir(parents=True)
    hand_in(course_dir.root, "bob", None)
    hand_in(course_dir.root, ".hidden", None)
    (course_dir.root / "submitted" / "file").mkdir()
    (course_dir.root / "submitted" / "file" / NAME).touch()
    changed = CourseDir(course_dir.root)
    assert changed.students(NAME) == ["ann"]
    assert changed.folder("submitted", NAME, "ann") == (course_dir.root / place).resolve()


def test_settings_for_all_courses_apply(course_dir: CourseDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for nbgrader's own commands, unless the course sets them itself; an error names the file it is in.

    A folder without nbgrader_config.py is no course folder.
    """
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    (tmp_path / "nbgrader_config.json").write_text('{"CourseDirectory": {"feedback_directory": "words"}}')
    (tmp_path / "jupyter_config.py").write_text(
        "c.LateSubmissionPlugin.penalty_method = 'zero'\nc.CourseDirectory.course_id = 'another'\n"
    )
    config = CourseDir(course_dir.root).config
    assert config.LateSubmissionPlugin.penalty_method == "zero" and config.CourseDirectory.feedback_directory == "words"
    assert config.CourseDirectory.course_id == "attention"
    (tmp_path / "nbgrader_config.py").write_text("c.Limits = =")
    for folder in (course_dir.root, tmp_path):
        with pytest.raises(GraderError, match="nbgrader_config.py cannot be read: SyntaxError"):
            CourseDir(folder)
    (tmp_path / "nbgrader_config.py").unlink()
    with pytest.raises(GraderError, match=f"nbgrader_config.py.*{tmp_path.name}"):
        CourseDir(tmp_path)


@pytest.mark.slow
def test_a_new_gradebook_is_that_of_nbgrader(tmp_path: Path) -> None:
    """It has the same tables, columns and version as nbgrader's own, and a second call changes nothing."""
    stock, made = tmp_path / "stock.db", tmp_path / "made.db"
    program = [sys.executable, "-c", f"from nbgrader.api import Gradebook; Gradebook('sqlite:///{stock}').close()"]
    subprocess.run(program, check=True)
    for _ in range(2):
        make_tables(f"sqlite:///{made}")
    assert _schema(made) == _schema(stock)


def _schema(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The columns of every table, and the version of the whole."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: [row[1:4] for row in database.execute(f"PRAGMA table_info({table})")] for table in tables}
        return columns, database.execute("SELECT version_num FROM alembic_version").fetchall()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgres", "cannot be used .* it is a URL such as postgresql"),
        ("mysql+nodriver://host/gradebook", "cannot be used .* it is a URL such as postgresql"),
        ("postgresql+psycopg2://host/x", r"needs the driver psycopg2, .* 'confined-grader\[postgres\]'"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line(course_dir: CourseDir, url: str, words: str) -> None:
    """A URL that SQLAlchemy cannot read, and one without its driver: the line says what to install and to write.

    A gradebook.db with text in it is no traceback either.
    """
    (course_dir.root / "gradebook.db").write_text("points: 100\n" * 1000)
    with pytest.raises(GraderError, match="the gradebook cannot be read or written .*not a database"):
        register(course_dir, NAME)
    course_dir.directory.db_url = url
    with pytest.raises(GraderError, match=f"db_url {words}"):
        register(course_dir, NAME)


def test_an_import_that_fails_while_the_gradebook_is_open_is_not_the_drivers(course_dir: CourseDir) -> None:
    """Only an error of the database's driver is about db_url."""
    with pytest.raises(ImportError, match="numpy"), course_dir.gradebook():
        raise ImportError("No module named 'numpy'", name="numpy")


def test_registering_leaves_the_release_alone(course_dir: CourseDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradebook learns the cells of source/; the students' notebooks stay as they were given out.

    Settings that apply to one run of a converter do not stay in the CourseDir. A new gradebook is made also if the
    environment is not activated, as in a cron job.
    """
    monkeypatch.setenv("PATH", str(course_dir.root))
    before = repr(course_dir.config)
    release(course_dir, NAME)
    page = course_dir.root / "release" / NAME / "small.ipynb"
    page.write_text("as given out")
    register(course_dir, NAME)
    assert page.read_text() == "as given out" and repr(course_dir.config) == before
    with course_dir.gradebook() as gradebook:
        cells = gradebook.find_notebook("small", NAME).grade_cells
        assert {cell.name: cell.max_score for cell in cells} == (
            {"one-check": 1, "one-test-more": 2, "two-check": 5, "why": 2}
        )


def _make_tables(url: str, start: Any) -> None:
    start.wait()
    make_tables(url)


@pytest.mark.slow
def test_programs_make_a_gradebook_at_once(tmp_path: Path) -> None:
    """One makes the tables, and the others find them."""
    context = multiprocessing.get_context("fork")
    for number in range(5):
        start, url = context.Barrier(4), f"sqlite:///{tmp_path / f'{number}.db'}"
        programs = [context.Process(target=_make_tables, args=(url, start)) for _ in range(4)]
        for program in programs:
            program.start()
        for program in programs:
            program.join()
        assert [program.exitcode for program in programs] == [0] * 4
