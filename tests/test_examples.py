"""The class in examples/, graded once as the demo grades it: who gets what, and what each student gets to read."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from course.classroom import Classroom
from course.demo import prepare
from course.grading.class_run import ClassRun
from course.grading.notebook import HIDDEN, Kind, grade_id, kind
from course.grading.records import Graded
from course.grading.repair import read
from course.scores import scores

REPOSITORY = Path(__file__).resolve().parents[1]
ASSIGNMENT = "04-attention"
MAX_POINTS = 78
NOTEBOOKS = {"self-attention", "vanilla-attention", "what-attention-learns"}
DAMAGED = ("hana", "self-attention")

POINTS = {
    "ada": 78,  # all right, in a style of her own
    "ben": 78,  # all right, in another style
    "chen": 40,  # forgets the scale, and has not written the last exercises
    "dora": 56,  # reads the mask the wrong way round
    "emil": 0,  # the blank
    "fay": 13,  # answers that raise
    "goran": 44,  # an endless loop
    "hana": 28,  # one file is cut off
    "igor": 0,  # wants full marks without an answer
    "jana": 78,  # all right, in a notebook with cells copied, retyped and lost
}


@dataclass(frozen=True)
class Class:
    """The course folder after the run, and what the run said of each student."""

    classroom: Classroom
    graded: dict[str, Graded]

    def pages(self, student: str) -> dict[str, str]:
        """The student's feedback as a browser shows it, by notebook."""
        folder = self.classroom.folder("feedback", ASSIGNMENT, student)
        return {path.stem: BeautifulSoup(path.read_text(), "html.parser").get_text() for path in folder.glob("*.html")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Grades the ten once, two at a time, with less patience for an endless loop than a course has."""
    copy = tmp_path_factory.mktemp("repository")
    shutil.copy(REPOSITORY / "nbgrader_config.py", copy)
    for name in ("source", "examples"):
        shutil.copytree(REPOSITORY / name, copy / name)
    folder, assignments = prepare(copy)
    assert assignments == [ASSIGNMENT]
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Limits.cell_seconds = 2\n")
    classroom = Classroom(folder)
    outcomes = ClassRun(classroom, ASSIGNMENT, jobs=2).outcomes()
    return Class(classroom, {graded.student: graded for graded in outcomes})


def secrets() -> dict[str, list[str]]:
    """By notebook, the lines that stand in hidden tests and marking schemes of the source and nowhere else in it."""
    found = {}
    for path in (REPOSITORY / "source" / ASSIGNMENT).glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        parts = [(cell, *_hidden_part(cell.source)) for cell in cells]
        shown = "\n".join(cell.source.replace(part, "") for cell, part in parts)
        lines = {line.strip() for _, part in parts for line in part.splitlines()[1:-1]}
        found[path.stem] = sorted(line for line in lines if len(line) > 30 and line not in shown)
    return found


def _hidden_part(source: str) -> tuple[str]:
    for begin, end in ((HIDDEN, "END HIDDEN TESTS"), ("BEGIN MARK SCHEME", "END MARK SCHEME")):
        if begin in source:
            return (source[source.index(begin) : source.index(end)],)
    return ("",)


SECRETS = secrets()


def test_the_class_is_complete() -> None:
    """There is a row here for every student in examples/, and the reference is worth the points named here."""
    assert sorted(POINTS) == sorted(path.name for path in (REPOSITORY / "examples").glob("*/"))
    cells = [
        cell
        for path in (REPOSITORY / "source" / ASSIGNMENT).glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
    ]
    assert sum(cell.metadata.nbgrader.points for cell in cells if kind(cell) is Kind.TEST) == MAX_POINTS


@pytest.mark.parametrize("student", POINTS)
def test_they_were_handed_out_what_is_handed_out_now(student: str) -> None:
    """The tests in their notebooks read as in release/: whoever opens one sees what students see."""
    for path in (REPOSITORY / "examples" / student / ASSIGNMENT).glob("*.ipynb"):
        if (student, path.stem) != DAMAGED:
            theirs, released = _tests(path), _tests(REPOSITORY / "release" / ASSIGNMENT / path.name)
            assert theirs and {name: released[name] for name in theirs} == theirs


def _tests(path: Path) -> dict[str | None, str]:
    return {grade_id(cell): cell.source for cell in read(path, 20).cells if kind(cell) is Kind.TEST}


@pytest.mark.parametrize("student", POINTS)
def test_everybody_gets_what_they_earned(run: Class, student: str) -> None:
    """The report and the gradebook agree on the points, of 78."""
    reports = run.graded[student].reports.values()
    score = scores(run.classroom, ASSIGNMENT)[student]
    assert (sum(report.points for report in reports), score.tests) == (POINTS[student], POINTS[student])
    assert score.max_tests == MAX_POINTS


@pytest.mark.parametrize("student", POINTS)
def test_only_the_unreadable_file_is_trouble(run: Class, student: str) -> None:
    """Hana's cut-off file is one trouble, which names it; nobody else has any."""
    troubles = run.graded[student].troubles
    if student == DAMAGED[0]:
        (line,) = troubles
        assert line.startswith(f"{DAMAGED[1]}.ipynb ")
    else:
        assert troubles == []


def test_damaged_cells_are_told(run: Class) -> None:
    """Jana's full marks come from notebooks that were put right, and the report says what was wrong with them."""
    assert any(report.repairs for report in run.graded["jana"].reports.values())
    assert not any(report.repairs for report in run.graded["ada"].reports.values())


def test_the_endless_loop_costs_its_exercise(run: Class) -> None:
    """Goran's loop, and what builds on it, is timed out; every other test passed."""
    results = [result for report in run.graded["goran"].reports.values() for result in report.results]
    assert {result.verdict for result in results} == {"passed", "timed out"}


def test_the_gradebook_lists_the_class(run: Class) -> None:
    """All ten stand in nbgrader's gradebook."""
    assert sorted(scores(run.classroom, ASSIGNMENT)) == sorted(POINTS)


@pytest.mark.parametrize("student", POINTS)
def test_everybody_gets_feedback(run: Class, student: str) -> None:
    """There is a page for every notebook that could be read, and it shows the score."""
    pages = run.pages(student)
    assert set(pages) == {name for name in NOTEBOOKS if (student, name) != DAMAGED}
    for name, page in pages.items():
        assert f"{name} (Score: " in page


@pytest.mark.parametrize("student", POINTS)
def test_feedback_shows_nothing_hidden(run: Class, student: str) -> None:
    """No line of a hidden test, no line of a marking scheme, and none of their marks is on a page."""
    for name, page in run.pages(student).items():
        assert "HIDDEN TESTS" not in page and "MARK SCHEME" not in page and "Marking scheme" not in page
        assert [line for line in SECRETS[name] if line in page] == []


def test_there_is_something_to_hide() -> None:
    """The test above looks for many lines of each notebook, so that it cannot pass for want of any."""
    assert set(SECRETS) == NOTEBOOKS
    assert all(len(lines) > 20 for lines in SECRETS.values()), {name: len(lines) for name, lines in SECRETS.items()}


@pytest.mark.parametrize("student", POINTS)
def test_feedback_says_what_a_lost_test_is_about(run: Class, student: str) -> None:
    """Every message of a report can be read on the student's page."""
    for name, page in run.pages(student).items():
        text = " ".join(page.split())
        messages = {result.message for result in run.graded[student].reports[name].results if result.message}
        assert [message for message in messages if " ".join(message.split()) not in text] == []


def test_who_wrote_to_the_gradebook_did_not_reach_it(run: Class) -> None:
    """Igor's cells try to open gradebook.db in three places; the words that they would write are in no file."""
    files = [
        path for path in run.classroom.root.rglob("*") if path.is_file() and path.suffix not in (".ipynb", ".html")
    ]
    assert not any(b"full marks for everybody" in path.read_bytes() for path in files)
