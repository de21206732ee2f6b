"""nbgrader's own example assignments, with the students that it ships, earn in each cell what stock nbgrader gives."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbgrader.api import Gradebook

from grader.classroom.page.result_files import read_record
from tests.support import warm

pytestmark = pytest.mark.slow

EXAMPLES = Path(nbgrader.__file__).parent / "docs/source/user_guide"
CONFIG = {
    "stock": "c = get_config()\n",
    "ours": "from grader import nbgrader_plugin\n\nc = get_config()\nnbgrader_plugin.configure(c, root='.')\n",
}
ANSWERS = {
    "edited": ("i ** 2 for", "i ** 3 for"),
    "none": ("return [", "return None and ["),
    "half": ("return sum(squares(n))", "raise NotImplementedError()"),
}
"""Students who hand in our solution with one change, by name."""

Row = tuple[float | None, float | None, float, bool]
"""Points of tests, points by hand, points that it can give, and whether a person must mark it."""


class Course:
    """A course folder with an example assignment, for stock nbgrader or for the grader."""

    def __init__(self, folder: Path, kind: str, assignment: str) -> None:
        self.root, self.assignment = folder, assignment
        shutil.copytree(EXAMPLES / "source" / assignment, folder / "source" / assignment)
        shutil.copy(EXAMPLES / "autotests.yml", folder)
        (folder / "nbgrader_config.py").write_text(CONFIG[kind])
        self.run("nbgrader", "update", "source")

    def run(self, *command: str, fails: bool = False) -> str:
        """Run a command in the course folder; return what it printed."""
        done = warm.run(list(command), self.root, os.environ)
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def hand_in(self) -> None:
        """Hand in the submissions that nbgrader ships, a blank, our solution, and variants of it."""
        if (shipped := EXAMPLES / "submitted").exists() and self.assignment == "ps1":
            for student in ("bitdiddle", "hacker"):
                shutil.copytree(shipped / student / "ps1", self._submission(student))
        released = self.root / "release" / self.assignment
        shutil.copytree(released, self._submission("blank"))
        for student, (old, new) in {"solution": ("", ""), **ANSWERS}.items():
            folder = shutil.copytree(released, self._submission(student))
            for path in (self.root / "source" / self.assignment).glob("*.ipynb"):
                solved = nbformat.read(path, as_version=4)
                for cell in solved.cells:
                    if cell.metadata.get("nbgrader", {}).get("solution"):
                        cell.source = cell.source.replace(old, new) if old else cell.source
                nbformat.write(solved, folder / path.name)
        self.run("nbgrader", "update", "submitted")

    def rows(self) -> dict[tuple[str, str], Row]:
        """Return the row of each graded cell in the gradebook, by student and grade_id."""
        url = f"sqlite:///{self.root / 'gradebook.db'}"
        with closing(Gradebook(url)) as gradebook:
            return {
                (each.student.id, grade.cell.name): (
                    grade.auto_score, grade.manual_score, grade.max_score, bool(grade.needs_manual_grade)
                )
                for each in gradebook.assignment_submissions(self.assignment)
                for notebook in each.notebooks
                for grade in notebook.grades
            }  # fmt: skip

    def carried(self) -> set[tuple[str, str]]:
        """Return the tests that were judged with our answers to earlier exercises, with their students."""
        return {
            (folder.parent.name, test.name)
            for folder in self.root.glob(f"autograded/[!.]*/{self.assignment}")
            if (found := read_record(folder, "problem1")) is not None
            for test in found.tests
            if test.explanation.judged_with
        }

    def _submission(self, student: str) -> Path:
        folder = self.root / "submitted" / student / self.assignment
        folder.parent.mkdir(parents=True, exist_ok=True)
        return folder


@pytest.fixture(scope="module", params=["ps1", "ps1_autotest"])
def courses(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Course]]:
    """The same assignment and students, graded by stock nbgrader and by `grader grade`."""
    made = {}
    for kind in CONFIG:
        course = made[kind] = Course(tmp_path_factory.mktemp(kind), kind, request.param)
        if kind == "stock":
            course.run("nbgrader", "generate_assignment", request.param)
            course.hand_in()
            course.run("nbgrader", "autograde", request.param)
        else:
            course.run("grader", "release", request.param)
            course.hand_in()
            course.run("grader", "grade", request.param)
    yield made


def test_every_row_is_that_of_stock_nbgrader(courses):
    """Points, and whether a person must mark a cell, for tests, written answers and task cells.

    A mistake costs points once here: an exercise that builds on a wrong one is judged with our answer to that one.
    """
    stock, ours = (courses[kind].rows() for kind in CONFIG)
    carried = courses["ours"].carried()
    assert {test for _, test in carried} <= {"correct_sum_of_squares", "sum_of_squares_uses_squares"}
    assert all(ours[key][0] >= stock[key][0] for key in carried)
    tests = {key: row for key, row in ours.items() if row[0] is not None and not row[3]}
    assert sum(row[0] for (student, _), row in tests.items() if student == "blank") == 0
    assert all(row[0] == row[2] for (student, _), row in tests.items() if student == "solution")
    assert {key: row for key, row in ours.items() if key not in carried} == {
        key: row for key, row in stock.items() if key not in carried
    }


def test_nbgraders_commands_go_on_after_it(courses):
    """Feedback is written, the plug-in grades again, and the points stay."""
    course = courses["ours"]
    before = course.rows()
    course.run("nbgrader", "generate_feedback", course.assignment, "--force")
    course.run("nbgrader", "autograde", course.assignment, "--force")
    assert course.rows() == before
    assert len(list(course.root.glob(f"feedback/*/{course.assignment}/*.html"))) > 4
