"""The class in examples/, graded once as the demo grades it, gets the right points and the right feedback."""

import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from examples.make_class import LISTS
from examples.make_demo import prepare
from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.results import StudentResult
from grader.engine.notebook.cells import HIDDEN, CellType, type_of
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.axe import SCHEMES, violations
from tests.support.paths import REPOSITORY

pytestmark = pytest.mark.slow

ASSIGNMENT = "04-attention"
MAX_POINTS = 78
NOTEBOOKS = {"1-vanilla-attention", "2-self-attention", "3-what-attention-learns"}
DAMAGED = ("hana", "2-self-attention")

POINTS = {
    "ada": 78,  # right, in a style of her own
    "ben": 78,  # right, in another style
    "chen": 40,  # forgets the scale, and has not written the last exercises
    "dora": 71,  # inverts the mask, which costs points in one exercise only
    "emil": 0,  # the blank notebooks
    "fay": 13,  # answers that raise
    "goran": 64,  # an endless loop, judged as one mistake, too
    "hana": 28,  # one file is truncated
    "igor": 0,  # tries to get full marks without an answer
    "jana": 78,  # right, in notebooks with copied, retyped and lost cells
}


@dataclass(frozen=True)
class Class:
    """The course folder after the run, and the result of each student."""

    course_dir: CourseDir
    results: dict[str, StudentResult]

    def pages(self, student: str) -> dict[str, str]:
        """Return the student's feedback as a browser shows it, by notebook."""
        return _pages(self.course_dir.folder("feedback", ASSIGNMENT, student))


@cache
def _pages(folder: Path) -> dict[str, str]:
    # Parsing a page takes long, and three tests read the pages of every student.
    pages = {path.stem: BeautifulSoup(path.read_text(), "html.parser").get_text() for path in folder.glob("*.html")}
    pages.pop("index", None)  # it joins the others
    return pages


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Grade the ten students once, two at a time, with a shorter time limit than in the course."""
    repository = tmp_path_factory.mktemp("repository")
    shutil.copy(REPOSITORY / "nbgrader_config.py", repository)
    shutil.copytree(REPOSITORY / "source", repository / "source")
    folder, assignments = prepare(repository)
    assert assignments == [ASSIGNMENT]
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Limits.cell_seconds = 2\n")
    course_dir = CourseDir(folder)
    outcomes = ClassRun(course_dir, ASSIGNMENT, jobs=2).outcomes()
    return Class(course_dir, {result.student: result for result in outcomes})


def secrets() -> dict[str, list[str]]:
    """Return, by notebook, the lines that only hidden tests and marking schemes of the source contain."""
    secret_lines = {}
    for path in (REPOSITORY / "source" / ASSIGNMENT).glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        parts = [(cell, *_hidden_part(cell.source)) for cell in cells]
        shown = "\n".join(cell.source.replace(part, "") for cell, part in parts)
        lines = {line.strip() for _, part in parts for line in part.splitlines()[1:-1]}
        secret_lines[path.stem] = sorted(line for line in lines if len(line) > 30 and line not in shown)
    return secret_lines


def _hidden_part(source: str) -> tuple[str]:
    for begin, end in ((HIDDEN, "END HIDDEN TESTS"), ("BEGIN MARK SCHEME", "END MARK SCHEME")):
        if begin in source:
            return (source[source.index(begin) : source.index(end)],)
    return ("",)


SECRETS = secrets()


def test_the_class_is_complete() -> None:
    """POINTS lists every student with a list in examples/, and the tests of the assignment give MAX_POINTS."""
    assert sorted(POINTS) == sorted(path.stem for path in (LISTS / ASSIGNMENT).glob("*.toml"))
    cells = [
        cell
        for path in (REPOSITORY / "source" / ASSIGNMENT).glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
    ]
    assert sum(cell.metadata.nbgrader.points for cell in cells if type_of(cell) is CellType.TEST) == MAX_POINTS


@pytest.mark.parametrize("student", POINTS)
def test_every_student_gets_the_points_that_the_answers_earn(run: Class, student: str) -> None:
    """The report and the gradebook agree on the points, of 78."""
    reports = run.results[student].reports.values()
    score = read_ledger(run.course_dir, ASSIGNMENT).by_student[student]
    assert (sum(report.points for report in reports), score.total.tests) == (POINTS[student], POINTS[student])
    assert score.total.max_tests == MAX_POINTS


@pytest.mark.parametrize("student", POINTS)
def test_only_the_unreadable_file_is_an_error(run: Class, student: str) -> None:
    """Hana's truncated file is one error, which names the file; the other students have none."""
    errors = run.results[student].errors
    if student == DAMAGED[0]:
        (line,) = errors
        assert line.startswith(f"{DAMAGED[1]}.ipynb ")
    else:
        assert errors == []


def test_repaired_cells_are_reported(run: Class) -> None:
    """Jana's report lists a repair for each damaged cell; Ada's report lists none."""
    repairs = {name: len(report.repairs) for name, report in run.results["jana"].reports.items()}
    assert repairs == {"1-vanilla-attention": 3, "2-self-attention": 0, "3-what-attention-learns": 0}
    assert not any(report.repairs for report in run.results["ada"].reports.values())


def test_the_endless_loop_costs_its_exercise(run: Class) -> None:
    """The tests of Goran's loop, and of exercises that build on it, are timed out; all others passed."""
    results = [result for report in run.results["goran"].reports.values() for result in report.results]
    assert {result.verdict for result in results} == {"passed", "timed out"}


def test_the_gradebook_lists_the_class(run: Class) -> None:
    """nbgrader's gradebook has all ten students."""
    assert sorted(read_ledger(run.course_dir, ASSIGNMENT).by_student) == sorted(POINTS)


@pytest.mark.parametrize("student", POINTS)
def test_every_student_gets_feedback(run: Class, student: str) -> None:
    """Every readable notebook has a page, which shows the score."""
    pages = run.pages(student)
    assert set(pages) == {name for name in NOTEBOOKS if (student, name) != DAMAGED}
    for name, page in pages.items():
        assert re.search(rf"{name}\s+[\d.]+ of [\d.]+ points", page)


@pytest.mark.parametrize("student", POINTS)
def test_feedback_shows_nothing_hidden(run: Class, student: str) -> None:
    """No page contains a line of a hidden test or of a marking scheme, or one of the markers around them."""
    for name, page in run.pages(student).items():
        assert "HIDDEN TESTS" not in page and "MARK SCHEME" not in page and "Marking scheme" not in page
        assert [line for line in SECRETS[name] if line in page] == []


def test_there_is_something_to_hide() -> None:
    """The test above searches for many lines of each notebook, so it cannot pass because there are none."""
    assert set(SECRETS) == NOTEBOOKS
    assert all(len(lines) > 20 for lines in SECRETS.values()), {name: len(lines) for name, lines in SECRETS.items()}


@pytest.mark.parametrize("student", POINTS)
def test_feedback_shows_the_message_of_every_test(run: Class, student: str) -> None:
    """Every message of a report is on the student's page."""
    for name, page in run.pages(student).items():
        text = " ".join(page.split())
        messages = {result.message for result in run.results[student].reports[name].results if result.message}
        assert [message for message in messages if " ".join(message.split()) not in text] == []


@needs_browser
def test_axe_finds_nothing_on_any_students_page(run: Class) -> None:
    """One page of each student, with everything unfolded, every other one in the dark: WCAG 2.1 AA holds."""
    found = {}
    with chromium() as browser:
        for number, student in enumerate(sorted(POINTS)):
            pages = sorted(run.course_dir.folder("feedback", ASSIGNMENT, student).glob("[0-9]*.html"))
            page = browser.new_page()
            page.goto(pages[number % len(pages)].as_uri())
            found[student] = violations(page, schemes=(SCHEMES[number % 2],))
            page.close()
    assert len(found) == 10 and found == dict.fromkeys(found, [])


def test_student_code_cannot_write_to_the_gradebook(run: Class) -> None:
    """Igor's cells try to open gradebook.db in three places; the words that they would write are in no file.

    The notebooks, pages and records show the cells themselves.
    """
    shown = (".ipynb", ".html", ".json")
    files = [path for path in run.course_dir.root.rglob("*") if path.is_file() and path.suffix not in shown]
    assert not any(b"full marks for everybody" in path.read_bytes() for path in files)
