"""What students get: made from source/, up to date, nothing hidden in it, and open to who has solved nothing."""

import filecmp
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.notebook import Kind, grade_id, kind
from course.release import release, release_start

REPOSITORY = Path(__file__).parents[1]
RELEASED = sorted(REPOSITORY.glob("release/*/*.ipynb"))
SECRETS = ("BEGIN SOLUTION", "HIDDEN TESTS", "MARK SCHEME", "Marking scheme")

each_notebook = pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}/{path.stem}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with this repository's source, released anew."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    shutil.copytree(REPOSITORY / "source", folder / "source")
    classroom = Classroom(folder)
    for assignment in classroom.assignments():
        release(classroom, assignment)
    release_start(classroom)
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_release_is_what_source_makes(folder: Path) -> None:
    """Whoever changes source/ runs `make release` and commits what it writes."""
    ours, anew = REPOSITORY / "release", folder / "release"
    assert files(ours) == files(anew)
    assert [path for path in files(ours) if not filecmp.cmp(ours / path, anew / path, shallow=False)] == []


def test_releasing_leaves_the_gradebook_alone(folder: Path) -> None:
    """A release can be made anywhere, by anyone, at any time."""
    assert not (folder / "gradebook.db").exists()


def test_an_unknown_assignment_is_refused_with_those_there_are(folder: Path) -> None:
    """Who mistypes a name is told the right ones."""
    with pytest.raises(CourseError, match="no assignment '4-attention' in source/; there is 01-aggregation, "):
        release(Classroom(folder), "4-attention")


@each_notebook
def test_nothing_hidden_is_released(path: Path) -> None:
    """No solution, no hidden test, no marking scheme, no output."""
    text = path.read_text()
    assert [secret for secret in SECRETS if secret in text] == []
    source = nbformat.read(REPOSITORY / "source" / path.parent.name / path.name, as_version=4)
    for cell in source.cells:
        if kind(cell) is Kind.WRITTEN:
            assert cell.source not in text, grade_id(cell)
    assert not any(cell.get("outputs") for cell in nbformat.reads(text, as_version=4).cells)


@each_notebook
def test_only_blanks_fail(path: Path) -> None:
    """A student who runs everything and has solved nothing meets NotImplementedError and no other error."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
    errors = {
        grade_id(cell) or cell.source: output.ename
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    }
    assert {name: error for name, error in errors.items() if error != "NotImplementedError"} == {}
    assert errors, "a released notebook has blanks"
