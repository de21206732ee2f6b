"""nbgrader's own commands in a clean course folder: our answers get every point, the released blanks none."""

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from course.classroom import Classroom
from course.scores import Score, scores

REPOSITORY = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path.name for path in (REPOSITORY / "source").glob("*/"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A course folder where two students handed in an assignment: one the source itself, one the release as it is."""
    folder = tmp_path_factory.mktemp("clean")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    shutil.copytree(REPOSITORY / "source", folder / "source")

    @cache
    def graded(assignment: str) -> Path:
        for student, step in (("reference", "source"), ("blank", "release")):
            for notebook in (REPOSITORY / step / assignment).glob("*.ipynb"):
                submitted = folder / "submitted" / student / assignment
                submitted.mkdir(parents=True, exist_ok=True)
                shutil.copy(notebook, submitted)
        for command in ("generate_assignment", "autograde"):
            _nbgrader(folder, command, assignment)
        return folder

    return graded


def _nbgrader(folder: Path, *command: str) -> None:
    done = subprocess.run(["nbgrader", *command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def _score(folder: Path, assignment: str, student: str) -> Score:
    return scores(Classroom(folder), assignment)[student]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_reference_has_every_point_from_tests(graded: Callable[[str], Path], assignment: str) -> None:
    """What instructors wrote is right, and its written answers wait for a person."""
    score = _score(graded(assignment), assignment, "reference")
    assert score.tests == score.max_tests > 0
    assert score.needs_marking and score.tests + score.max_written == 100


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_blank_has_no_point(graded: Callable[[str], Path], assignment: str) -> None:
    """Who hands in what was handed out has nothing, and nobody needs to mark it."""
    score = _score(graded(assignment), assignment, "blank")
    assert score.tests == score.written == 0
    assert not score.needs_marking
