"""Shows that a course whose cells have nbgrader's default ids is graded, explained and proved as any other.

Three exercises build on each other, and no id says which test belongs to which.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.commands.check.check import check as check_notebook
from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.explanation import Cause
from grader.engine.grading import grade
from grader.engine.view import RIGHT, views
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook, text
from tests.support.small_class import run

pytestmark = pytest.mark.slow

NAME = "ps1"
IDS = {
    name: f"cell-{number:016x}"
    for number, name in enumerate(
        ["imports", "scale", "t1", "t2", "Shift", "t3", "t4", "both", "t5", "t6", "free"], 0xA000000000000000
    )
}
SCALE = "def scale(x):\n    ### BEGIN SOLUTION\n    return 3 * x\n    ### END SOLUTION"
SHIFT = (
    "class Shift:\n    def __init__(self, by):\n        self.by = by\n    def of(self, x):\n"
    "        ### BEGIN SOLUTION\n        return scale(x) + self.by\n        ### END SOLUTION"
)
BOTH = "def both(x):\n    ### BEGIN SOLUTION\n    return Shift(1).of(scale(x))\n    ### END SOLUTION"
SOURCE = notebook(
    text("# Three exercises"),
    helpers(IDS["imports"], "import math"),
    answer(IDS["scale"], SCALE),
    check(IDS["t1"], "def near(x, y):\n    return abs(x - y) < 0.1\nassert near(scale(1), 3), 'scale(1) is 3'"),
    hidden(IDS["t2"], "scale works for numbers below 0.", "assert scale(-2) == -6", points=2),
    text("## The second"),
    answer(IDS["Shift"], SHIFT),
    check(IDS["t3"], "assert near(Shift(2).of(1), 5), 'scaled first, then shifted'"),
    hidden(IDS["t4"], "Shift scales.", "assert Shift(0).of(2) == scale(2)", points=2),
    answer(IDS["both"], BOTH),
    code("both(1)"),
    check(IDS["t5"], "assert near(both(1), 10)"),
    hidden(IDS["t6"], "both scales twice.", "assert both(2) == 19", points=2),
)
EXERCISES = {"scale": ["t1", "t2"], "Shift": ["t3", "t4"], "both": ["t5", "t6"]}
TWICE = Misconception(IDS["scale"], "doubles", "return 3 * x", "return 2 * x", "Read the factor again.")


def submission(**answers: str) -> nbformat.NotebookNode:
    """Return our solutions with other answers, by the name of the exercise."""
    return answered(SOURCE, **{IDS[name]: given for name, given in answers.items()})


def test_each_test_counts_for_its_exercise() -> None:
    """Also if the student's text names other things than our solution."""
    for given in (SOURCE, submission(scale="", Shift="import (", both="scale = Shift = both = 1")):
        found = {each.name: each.exercise for each in grade(SOURCE, given).results}
        assert found == {IDS[test]: IDS[name] for name, tests in EXERCISES.items() for test in tests}


def test_a_mistake_costs_points_once_and_is_named() -> None:
    """Later exercises are judged with our answer to the first, and the first has its diagnosis."""
    report = grade(SOURCE, submission(scale="def scale(x):\n    return 2 * x"), misconceptions=[TWICE])
    found = {each.exercise: each for each in views(report.results)}
    assert [found[IDS[name]].points for name in EXERCISES] == [0, 3, 3]
    assert "doubles" in found[IDS["scale"]].diagnosis
    assert found[IDS["both"]].judged_with == (IDS["scale"],)


def test_a_later_cell_costs_an_earlier_exercise_nothing() -> None:
    """The hidden tests of an exercise run again without the cells below it."""
    spoiled = submission(both="def both(x):\n    return 1\nclass Shift:\n    def of(self, x):\n        return None")
    found = {each.exercise: each.state for each in views(grade(SOURCE, spoiled).results)}
    assert [found[IDS[name]] == RIGHT for name in EXERCISES] == [True, True, False]


def test_a_blank_is_called_by_what_is_to_be_written() -> None:
    """The key stays the id; what the blank cell raises names the exercise to write first."""
    blank = "def scale(x):\n    raise NotImplementedError()"
    causes = {each.exercise: each.explanation.cause for each in grade(SOURCE, submission(scale=blank)).results}
    assert causes[IDS["scale"]] is Cause.NOT_WRITTEN


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder of one assignment, released and graded: a right, a blank and a wrong submission."""
    folder = tmp_path_factory.mktemp("default") / "course"
    (folder / "source" / NAME).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(
        "from pathlib import Path\nfrom grader import nbgrader_plugin\nc = get_config()\n"
        "nbgrader_plugin.configure(c, root=Path(__file__).parent)\nc.CourseDirectory.course_id = 'default'\n"
    )
    nbformat.write(SOURCE, folder / "source" / NAME / "one.ipynb")
    assert run(folder, "grader", "release").returncode == 0
    released = nbformat.read(folder / "release" / NAME / "one.ipynb", as_version=4)
    wrong = {"scale": "def scale(x):\n    return 2 * x", "Shift": SHIFT, "both": BOTH}
    for student, answers in {"ann": {"scale": SCALE, "Shift": SHIFT, "both": BOTH}, "bob": {}, "cat": wrong}.items():
        place = folder / "submitted" / student / NAME
        place.mkdir(parents=True)
        given = answered(released, **{IDS[name]: each for name, each in answers.items()})
        nbformat.write(given, place / "one.ipynb")
    done = run(folder, "grader", "grade", NAME)
    assert done.returncode == 0, done.stderr
    return folder


def test_people_read_names_and_no_ids(course: Path) -> None:
    """In the release, on the page, on the terminal and in the report."""
    release = (course / "release" / NAME / "one.ipynb").read_text()
    assert "# Check of scale: run this cell." in release and "# Hidden test of Shift, run by the grader: " in release
    assert "Check of cell-" not in release
    for student in ("ann", "bob", "cat"):
        page = (course / "feedback" / student / NAME / "one.html").read_text()
        shown = re.sub(r"<[^>]*>", "", page.partition("<body")[2])
        assert "scale" in shown and "both" in shown
        assert not set(IDS.values()) & set(re.findall(r"cell-[0-9a-f]{16}", shown)), student
        checked = run(course, "grader", "check", f"submitted/{student}/{NAME}/one.ipynb", "--trust")
        assert re.search(r"^Shift +\d / 3", checked.stdout, re.MULTILINE), checked.stdout
        assert "cell-" not in checked.stdout
    one = run(course, "grader", "check", f"submitted/bob/{NAME}/one.ipynb", "--exercise", "Shift", "--trust")
    assert one.stdout.startswith("Shift ") and "both" not in one.stdout
    assert run(course, "grader", "report", NAME).returncode == 0
    report = next(course.glob(f"*/{NAME}/index.html")).read_text()
    assert ">Shift<" in report and not set(IDS.values()) & set(re.findall(r"cell-[0-9a-f]{16}", report))


def test_a_release_handed_in_is_as_released(course: Path) -> None:
    """Its first lines name labels, and nothing of it counts as edited."""
    checked = check_notebook(CourseDir(course), course / "submitted" / "bob" / NAME / "one.ipynb")
    assert not checked.report.repairs and checked.report.points == 0


def test_prove_knows_the_tests(course: Path) -> None:
    """They find mutants of their exercise, and the reference keeps its points."""
    done = run(course, "grader", "prove", NAME, "--tenth", "1")
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line[:1].isalpha() and " / " in line}
    assert [rows[name][1] for name in EXERCISES] == ["2", "2", "2"], done.stdout
    assert all("1 / 1" in " ".join(rows[name]) for name in EXERCISES)
    assert "cell-" not in done.stdout


def test_prove_refuses_to_call_an_exercise_without_tests_proven(course: Path, tmp_path: Path) -> None:
    """And a reference that fails its tests has not kept its points."""
    folder = shutil.copytree(course, tmp_path / "course")
    lone = answer(IDS["free"], "def free(x):\n    return x + 1")
    wrong = answered(SOURCE, **{IDS["t5"]: "assert both(1) == 11", IDS["t6"]: "assert both(1) == 12"})
    nbformat.write(notebook(lone, *wrong.cells), folder / "source" / NAME / "one.ipynb")
    done = run(folder, "grader", "prove", NAME, "--trivial")
    assert done.returncode == 1
    assert "free: no test with points belongs to it" in done.stdout and "if its cell is called NAME-check" in " ".join(
        done.stdout.split()
    )
    assert "both: the right answer 'reference' loses points in both test 1, both test 2" in done.stdout
    rows = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if " / " in line}
    assert rows["free"].startswith("free 0 ") and "OPEN" in rows["free"] and "1 / 1" not in rows["free"]
    assert "0 / 1" in rows["both"] and "OPEN" in rows["both"]
