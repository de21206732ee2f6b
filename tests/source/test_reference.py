"""nbgrader itself in a clean course folder: our answers get every point, the released blanks none.

nbgrader runs as the formgrader runs it, in this process; tests/classroom/test_autograde_plugin.py runs its commands.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import SubmissionScore, read_ledger
from tests.support.exercises import ASSIGNMENTS
from tests.support.paths import REPOSITORY
from tests.support.proof_cache import ProofCache, digest_of
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

HANDED_IN = {"reference": "source", "blank": "release"}
"""Students and what they hand in: the source itself, and the release as it is."""

each_assignment = grouped(
    "assignment", [path.name for path in ASSIGNMENTS], group=lambda assignment: f"nbgrader {assignment}"
)


@pytest.fixture
def scored(proof_cache: ProofCache, tmp_path: Path) -> Callable[[str], dict[str, SubmissionScore]]:
    """Returns the scores of an assignment that two students handed in and nbgrader graded."""

    def scored(assignment: str) -> dict[str, SubmissionScore]:
        key = digest_of("nbgrader", assignment)
        return proof_cache.result(key, dict[str, SubmissionScore], lambda: graded_by_nbgrader(tmp_path, assignment))

    return scored


def graded_by_nbgrader(folder: Path, assignment: str) -> dict[str, SubmissionScore]:
    """Make a course folder with this assignment, have nbgrader grade it, and return the scores of the gradebook."""
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    shutil.copytree(REPOSITORY / "source" / assignment, folder / "source" / assignment)
    for student, step in HANDED_IN.items():
        submitted = folder / "submitted" / student / assignment
        submitted.mkdir(parents=True)
        for notebook in (REPOSITORY / step / assignment).glob("*.ipynb"):
            shutil.copy(notebook, submitted)
    course_dir = CourseDir(folder)
    nbgrader = NbGraderAPI(coursedir=course_dir.directory, config=course_dir.config)
    done = [nbgrader.generate_assignment(assignment), *(nbgrader.autograde(assignment, name) for name in HANDED_IN)]
    assert [each for each in done if not each["success"]] == []
    return read_ledger(course_dir, assignment).by_student


@each_assignment
def test_the_reference_has_every_point_from_tests_and_the_blank_none(
    scored: Callable[[str], dict[str, SubmissionScore]], assignment: str
) -> None:
    """Our written answers wait for a person; a student who hands in what was handed out has nothing to mark."""
    reference, blank = (scored(assignment)[student].total for student in HANDED_IN)
    assert reference.tests == reference.max_tests > 0
    assert reference.needs_marking and reference.tests + reference.max_written == 100
    assert blank.tests == blank.written == 0 and not blank.needs_marking
