"""release/ is made from source/ and up to date, and hides everything that must be hidden."""

import ast
import filecmp
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release, release_common
from grader.engine.notebook.cells import CellType, grade_id, type_of
from tests.support.paths import REPOSITORY

RELEASED = sorted(REPOSITORY.glob("release/*/*.ipynb"))
SECRETS = ("BEGIN SOLUTION", "HIDDEN TESTS", "MARK SCHEME", "Marking scheme")

each_notebook = pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}/{path.stem}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with this repository's source, released there."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    shutil.copytree(REPOSITORY / "source", folder / "source")
    course_dir = CourseDir(folder)
    for assignment in course_dir.assignments():
        release(course_dir, assignment)
    release_common(course_dir)
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_release_is_what_source_makes(folder: Path) -> None:
    """After a change of source/, run `make release` and commit what it writes."""
    stored, made = REPOSITORY / "release", folder / "release"
    assert files(stored) == files(made)
    assert [path for path in files(stored) if not filecmp.cmp(stored / path, made / path, shallow=False)] == []
    assert not (folder / "gradebook.db").exists()  # a release can be made anywhere at any time


@each_notebook
def test_nothing_hidden_is_released(path: Path) -> None:
    """No solution, no hidden test, no marking scheme, no output."""
    text = path.read_text()
    assert [secret for secret in SECRETS if secret in text] == []
    source = nbformat.read(REPOSITORY / "source" / path.parent.name / path.name, as_version=4)
    for cell in source.cells:
        if type_of(cell) is CellType.MANUAL_ANSWER:
            assert cell.source not in text, grade_id(cell)
    assert not any(cell.get("outputs") for cell in nbformat.reads(text, as_version=4).cells)


@each_notebook
def test_every_test_names_its_exercise(path: Path) -> None:
    """In a student's kernel this line says that a cell is a check or a hidden test."""
    notebook = nbformat.read(path, as_version=4)
    answers = {grade_id(cell) for cell in notebook.cells if type_of(cell) is CellType.AUTOGRADED_ANSWER}
    for cell in notebook.cells:
        if type_of(cell) is CellType.TEST:
            kind, exercise = re.match(r"# (Check|Hidden test) of ([\w-]+)[:,] ", cell.source).groups()
            assert exercise in answers
            assert (grade_id(cell) == f"{exercise}-check") == (kind == "Check") == bool(ast.parse(cell.source).body)
