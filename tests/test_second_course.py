"""The grader without this repository's course: a second course, with a package of its own that its notebook imports."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient

from grader.classroom.course_dir import CourseDir
from grader.classroom.course_root import remember
from grader.classroom.gradebook.reader import read_ledger
from grader.commands.cli import main
from tests.support import warm
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

COURSE = REPOSITORY / "tests/second_course"
ASSIGNMENT = "01-only"
MAX_POINTS = 4

RIGHT = "def weighted_sum(x):\n    return x @ tiny_helpers.weights(x.shape[-1])"
WRONG = "def weighted_sum(x):\n    return x.sum(-1)"
READER = f"""
import os
from pathlib import Path

helpers = Path(tiny_helpers.__file__).parent
assert "FIRST_WEIGHT" in (helpers / "numbers.py").read_text()
for attempt in (
    lambda: __import__("tiny_secrets"),
    lambda: (helpers.parent / "tiny_secrets.py").read_text(),
    lambda: os.listdir(helpers.parent),
):
    try:
        attempt()
    except (ImportError, OSError):
        continue
    raise SystemExit("this can be read, and was not named")
{RIGHT}
"""
"""A right answer that reads the helper package, and gives no function where it can read a module beside it."""


class SecondCourse:
    """A copy of the course folder, and a folder of packages that only PYTHONPATH names."""

    def __init__(self, folder: Path) -> None:
        self.root, self.packages = folder / "course", folder / "packages"
        shutil.copytree(COURSE, self.root, ignore=shutil.ignore_patterns("tiny_helpers", "__pycache__", "conftest.py"))
        shutil.copytree(COURSE / "tiny_helpers", self.packages / "tiny_helpers")
        # Loading the package before the first submission must survive such modules.
        (self.packages / "tiny_helpers/__main__.py").write_text("raise SystemExit('a program')\n")
        (self.packages / "tiny_helpers/script.py").write_text("raise SystemExit('a script')\n")
        (self.packages / "tiny_helpers/broken.py").write_text("import no_such_library\n")
        (self.packages / "tiny_secrets.py").write_text("SECRET = 1\n")

    def hand_in(self, **answers: str) -> None:
        """Hand in a notebook for each student."""
        source = nbformat.read(self.root / "source" / ASSIGNMENT / "only.ipynb", as_version=4)
        for student, answer in answers.items():
            submitted = self.root / "submitted" / student / ASSIGNMENT
            submitted.mkdir(parents=True)
            nbformat.write(answered(source, **{"weighted-sum": answer}), submitted / "only.ipynb")

    def run(self, *command: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
        """Run a command of the grader in the course folder, or in a folder of it."""
        environment = {**os.environ, "PYTHONPATH": str(self.packages)}
        return warm.run(["grader", *command], self.root / folder, environment)

    def run_cold(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run the installed program, whose fork server loads the helper packages of this course and no others."""
        environment = {**os.environ, "PYTHONPATH": str(self.packages)}
        program = [Path(sys.executable).with_name("grader"), *command]
        return subprocess.run(program, cwd=self.root, env=environment, capture_output=True, text=True, timeout=HANGS)

    def grade(self, *, cold: bool = False) -> dict[str, float]:
        """Grade the class with the command; return each student's points."""
        done = (self.run_cold if cold else self.run)("grade", ASSIGNMENT)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return self.points()

    def points(self) -> dict[str, float]:
        """Each student's points in the gradebook."""
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(self.packages)
            found = read_ledger(CourseDir(self.root), ASSIGNMENT).by_student
        assert {score.total.max_tests for score in found.values()} == {MAX_POINTS}
        return {student: score.total.tests for student, score in found.items()}

    def page(self, student: str) -> str:
        """A student's feedback as a browser shows it."""
        html = (self.root / "feedback" / student / ASSIGNMENT / "only.html").read_text()
        return " ".join(BeautifulSoup(html, "html.parser").get_text().split())

    def graded_at(self) -> dict[str, int]:
        """When each student's grading was completed, by student."""
        markers = self.root.glob(f"autograded/*/{ASSIGNMENT}/.graded.json")
        return {path.parts[-3]: path.stat().st_mtime_ns for path in markers}

    def configure(self, line: str) -> None:
        """Append a line to the configuration."""
        with (self.root / "nbgrader_config.py").open("a") as config:
            config.write(line + "\n")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SecondCourse:
    """The course with three students, graded once; tests do not change it."""
    course = SecondCourse(tmp_path_factory.mktemp("second"))
    course.hand_in(ann=RIGHT, bob=WRONG, cat=READER)
    course.grade(cold=True)
    return course


@pytest.fixture
def again(graded: SecondCourse, tmp_path: Path) -> SecondCourse:
    """A copy of the graded course to change."""
    course = SecondCourse.__new__(SecondCourse)
    course.root = shutil.copytree(graded.root, tmp_path / "course")
    course.packages = shutil.copytree(graded.packages, tmp_path / "packages")
    remember(course.root)
    return course


def test_a_right_answer_has_all_points_and_a_wrong_one_gets_its_hint(graded: SecondCourse) -> None:
    """Answer and tests use the helper package, and the wrong answer behaves like a known misconception."""
    assert graded.points() == {"ann": 4, "bob": 0, "cat": 4}
    for words in ("leaves out the weights", "Where do the weights come in?", "rows are not summed by their weights"):
        assert words in graded.page("bob") and words not in graded.page("ann")


def test_the_sandbox_reads_the_helper_packages_that_are_named_and_no_others(again: SecondCourse) -> None:
    """The reader's answer is right as long as a module beside the helper package is not named, and no longer.

    The module that is named then is a single file.
    """
    assert again.points()["cat"] == 4
    again.configure('c.Grader.helper_packages = ["tiny_helpers", "tiny_secrets"]')
    assert again.grade(cold=True) == {"ann": 4, "bob": 0, "cat": 0}
    assert "this can be read, and was not named" in again.page("cat")


@pytest.mark.parametrize("name", ["tiny_helper", "tiny_helpers.numbers", "../packages", ""])
def test_a_helper_package_that_does_not_exist_is_refused_in_one_line(
    again: SecondCourse, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the setting and the name; no student is graded."""
    before = again.graded_at()
    again.configure(f"c.Grader.helper_packages = [{name!r}]")
    monkeypatch.chdir(again.root)
    monkeypatch.syspath_prepend(again.packages)
    for command in (["grade", ASSIGNMENT, "--force"], ["check", f"submitted/ann/{ASSIGNMENT}/only.ipynb"], ["release"]):
        assert main(command) == 1
        out, err = capsys.readouterr()
        (line,) = err.splitlines()
        assert line.startswith("grader: c.Grader.helper_packages") and repr(name) in line and out == ""
    assert again.graded_at() == before


@pytest.mark.parametrize("root", ["", ", root=Path(__file__).parent"])
def test_one_notebook_is_checked_with_the_helper_package(again: SecondCourse, root: str) -> None:
    """In its own folder; `grader check --json` prints the points of the class run, and the hint.

    The course folder is found also if the configuration leaves its root to nbgrader, which uses the working folder.
    """
    config = again.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace(", root=Path(__file__).parent", root))
    done = again.run("check", "only.ipynb", "--json", folder=f"submitted/bob/{ASSIGNMENT}")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and (report["points"], report["max_points"]) == (0, MAX_POINTS)
    assert any("Where do the weights come in?" in test["message"] for test in report["tests"])


def test_a_students_kernel_says_sentences_and_hands_in_without_this_course(again: SecondCourse) -> None:
    """Released tests name their exercise, a failed check is a sentence, and the report has the grader's view."""
    assert again.run("release").returncode == 0
    path = again.root / "release" / ASSIGNMENT / "only.ipynb"
    student = answered(nbformat.read(path, as_version=4), **{"weighted-sum": WRONG})
    nbformat.write(student, path)
    code = [
        "from grader_kernel import hand_in; hand_in('only.ipynb', now=True)",
        "import sys; print('course' in sys.modules)",
    ]
    student.cells += [nbformat.v4.new_code_cell(source) for source in code]
    client = NotebookClient(student, allow_errors=True, resources={"metadata": {"path": str(path.parent)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(again.packages)})
    said = {
        cell.metadata.get("nbgrader", {}).get("grade_id"): cell.outputs for cell in student.cells if "outputs" in cell
    }
    (failed, *_) = said["weighted-sum-check"]
    assert "✗ weighted-sum · not right yet" in failed.traceback[0] and "counts by the first weight" in str(
        failed.traceback
    )
    assert not said["weighted-sum-test-values"]
    *_, report, is_there = [cell.outputs[0] for cell in student.cells if cell.get("outputs")]
    text = BeautifulSoup(report.data["text/html"], "html.parser").get_text()
    assert (
        "0 of 4 points" in text and "✗ weighted-sum: not right yet" in text and "Where do the weights come in?" in text
    )
    assert is_there.text == "False\n"
