"""Shows that no attack of the corpus gains, learns, leaves or harms anything, in one class with three honest students.

The class is graded once (aftermath.py). Each test looks at one promise.
"""

import json

import nbformat
import pytest
from bs4 import BeautifulSoup

from grader.engine.notebook.cells import CellType, grade_id, type_of
from tests.attacks.aftermath import ATTACKS, HONEST, LOOT, NAME, Aftermath, graded
from tests.attacks.build import LIMITS, REACHED, SOURCE

pytestmark = pytest.mark.slow

SCRIPTING = ("script", "iframe", "object", "embed", "base", "form", "svg", "math", "style", "link", "meta")
LINKING = ("href", "src", "action", "formaction", "data", "srcdoc", "xlink:href")

MAX_MEGABYTES = 400
"""What the grader's own process may take for two large files at a time, nbgrader's tables and the pages."""

FLAWS = ("SyntaxError", "IndentationError", "NameError", "ImportError", "ModuleNotFoundError", "AttributeError")
"""Errors of attacks that do not fit the present grader any more, and so prove nothing."""


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    """What is found after the class was graded."""
    return graded(tmp_path_factory.mktemp("attacks"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_earns_what_its_honest_part_earns(aftermath: Aftermath, attack: str) -> None:
    """The report and the gradebook hold the points of the exercises that the attacker solved, and no others."""
    expected = float(getattr(ATTACKS[attack], "EARNS", 0))
    graded = aftermath.outcomes[attack]
    results = [result for report in graded.reports.values() for result in report.results]
    verdicts = [f"{result.name}: {result.verdict} {result.points:g} {result.message}" for result in results]
    assert sum(report.points for report in graded.reports.values()) == expected, (verdicts, graded.errors)
    assert sum(score or 0 for (student, _), score in aftermath.scores().items() if student == attack) == expected


@pytest.mark.parametrize("attack", ATTACKS)
def test_shows_nothing_hidden_and_gets_through_to_nothing(aftermath: Aftermath, attack: str) -> None:
    """Its outputs are small and name no part that the grader lost; none holds a secret or a sign of success."""
    shown = aftermath.shown(attack)
    assert REACHED not in shown, shown[shown.index(REACHED) :][:300]
    pages = [path.read_text() for path in aftermath.folder("feedback", attack).glob("*.html")]
    for text in (shown, *(BeautifulSoup(page, "html.parser").get_text() for page in pages)):
        assert [loot for loot in LOOT if loot in text] == []
    for report in aftermath.outcomes[attack].reports.values():
        outputs = [output for part in report.outputs.values() for output in part]
        assert [output for output in outputs if output.get("ename") in FLAWS] == []
        assert len(json.dumps(report.outputs)) < 3 * LIMITS["output_kb"] * 1024
        assert all(len(result.message) < 5_000 for result in report.results)


@pytest.mark.parametrize("attack", ATTACKS)
def test_has_no_script_and_no_part_of_the_page_of_its_own(aftermath: Aftermath, attack: str) -> None:
    """In the feedback, nothing of a submission runs, and nothing has the class of a button or of the score's header."""
    parts = ".full-credit, .no-credit, .navbar-fixed-top, .panel-heading"
    pages, usual = (
        [
            BeautifulSoup(path.read_text(), "html.parser")
            for path in aftermath.folder("feedback", student).glob("*.html")
        ]
        for student in (attack, next(iter(HONEST)))
    )
    found, honest = ([len(page.select(parts)) for page in each] for each in (pages, usual))
    assert found in ([], [0], honest) and sum(map(_live, pages), []) == []


@pytest.mark.parametrize("student", HONEST)
def test_neighbours_get_what_they_deserve(aftermath: Aftermath, student: str) -> None:
    """An honest student in the same class has exactly the points that their work earns."""
    graded, points = aftermath.outcomes[student], HONEST[student][1]
    assert graded.reports[NAME].points == points
    assert graded.errors == [] and graded.reports[NAME].repairs == []
    assert sum(score or 0 for (name, _), score in aftermath.scores().items() if name == student) == points


def test_every_student_is_graded_and_the_course_folder_is_unchanged(aftermath: Aftermath) -> None:
    """A student without a report has a reason. Files of the course keep their content, mode, owner and time."""
    assert sorted(aftermath.outcomes) == sorted([*ATTACKS, *HONEST])
    assert all(graded.reports or graded.errors for graded in aftermath.outcomes.values())
    assert aftermath.changed == []


def test_takes_little_memory_of_the_grader(aftermath: Aftermath) -> None:
    """No submission makes the process swell that reads and writes for the whole class."""
    assert aftermath.megabytes < MAX_MEGABYTES


def test_leaves_nothing_behind(aftermath: Aftermath) -> None:
    """No process, folder, file, shared memory, semaphore or queue is left outside the course folder."""
    assert {what: left for what, left in aftermath.left.items() if left} == {}


def test_autograded_tests_are_the_sources(aftermath: Aftermath) -> None:
    """In every autograded notebook, test and read-only cells are those of the source."""
    source_cells = {
        grade_id(cell): cell.source for cell in SOURCE.cells if type_of(cell) in (CellType.TEST, CellType.READ_ONLY)
    }
    for path in aftermath.course.glob("autograded/*/*/*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        kept_cells = [(grade_id(cell), cell.source) for cell in cells if grade_id(cell) in source_cells]
        assert kept_cells == list(source_cells.items()), path


def test_corpus_has_every_attack_of_the_list() -> None:
    """The corpus has every attack that graders are known to meet."""
    assert {int(name[:2]) for name in ATTACKS} >= set(range(1, 65))


def _live(page: BeautifulSoup) -> list[str]:
    """The scripts of attackers that a browser would run or load on this page, without the template's own scripts."""
    scripts = []
    for tag in page.find_all(True):
        if tag.name in SCRIPTING and "attack" in str(tag):
            scripts.append(str(tag)[:200])
        for name, value in tag.attrs.items():
            text = "".join(str(value).split()).lower()
            if (
                name.startswith("on")
                and "attack" in text
                or name in LINKING
                and text.startswith(("javascript:", "vbs"))
            ):
                scripts.append(str(tag)[:200])
    return scripts
