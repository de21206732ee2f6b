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
def test_runs_as_it_was_written(aftermath: Aftermath, attack: str) -> None:
    """No attack fails because it names something that the grader does not have any more."""
    outputs = [
        output
        for report in aftermath.outcomes[attack].reports.values()
        for part in report.outputs.values()
        for output in part
    ]
    assert [output for output in outputs if output.get("ename") in FLAWS] == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_gets_through_to_nothing(aftermath: Aftermath, attack: str) -> None:
    """No forbidden action of the attack had an effect."""
    shown = aftermath.shown(attack)
    assert REACHED not in shown, shown[shown.index(REACHED) :][:300]


@pytest.mark.parametrize("attack", ATTACKS)
def test_learns_nothing_hidden(aftermath: Aftermath, attack: str) -> None:
    """Outputs, messages and feedback hold no number of a hidden test, no token and no words of another student."""
    pages = [path.read_text() for path in aftermath.folder("feedback", attack).glob("*.html")]
    for text in (aftermath.shown(attack), *(BeautifulSoup(page, "html.parser").get_text() for page in pages)):
        assert [loot for loot in LOOT if loot in text] == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_runs_no_script_in_the_feedback(aftermath: Aftermath, attack: str) -> None:
    """The feedback page has no script, no event handler and no script link from the submission."""
    for path in aftermath.folder("feedback", attack).glob("*.html"):
        assert _live(path.read_text()) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_has_no_part_of_the_page_of_its_own(aftermath: Aftermath, attack: str) -> None:
    """No part of the submission has the class of a button of the formgrader or of the header with the score."""
    parts = ".full-credit, .no-credit, .navbar-fixed-top, .panel-heading"
    count = lambda student: [  # noqa: E731
        len(BeautifulSoup(path.read_text(), "html.parser").select(parts))
        for path in aftermath.folder("feedback", student).glob("*.html")
    ]
    assert count(attack) in ([], [0], count(next(iter(HONEST))))


@pytest.mark.parametrize("attack", ATTACKS)
def test_keeps_its_outputs_small(aftermath: Aftermath, attack: str) -> None:
    """The outputs of all cells together stay near the limit, whatever the attack printed or claimed."""
    for report in aftermath.outcomes[attack].reports.values():
        assert len(json.dumps(report.outputs)) < 3 * LIMITS["output_kb"] * 1024
        assert all(len(result.message) < 5_000 for result in report.results)


@pytest.mark.parametrize("student", HONEST)
def test_neighbours_get_what_they_deserve(aftermath: Aftermath, student: str) -> None:
    """An honest student in the same class has exactly the points that their work earns."""
    graded, points = aftermath.outcomes[student], HONEST[student][1]
    assert graded.reports[NAME].points == points
    assert graded.errors == [] and graded.reports[NAME].repairs == []
    assert sum(score or 0 for (name, _), score in aftermath.scores().items() if name == student) == points


def test_every_student_is_graded(aftermath: Aftermath) -> None:
    """No student is left out because of another one, and a student without a report has a reason."""
    assert sorted(aftermath.outcomes) == sorted([*ATTACKS, *HONEST])
    assert all(graded.reports or graded.errors for graded in aftermath.outcomes.values())


def test_course_folder_is_unchanged(aftermath: Aftermath) -> None:
    """Sources, submissions and configuration keep their content, mode, owner and time."""
    assert aftermath.changed == []


def test_takes_little_memory_of_the_grader(aftermath: Aftermath) -> None:
    """No submission makes the process swell that reads and writes for the whole class."""
    assert aftermath.megabytes < MAX_MEGABYTES


@pytest.mark.parametrize("what", ["processes", "working folders", "files", "shared memory", "semaphores", "queues"])
def test_leaves_nothing_behind(aftermath: Aftermath, what: str) -> None:
    """After the run, no submission has left anything outside the course folder."""
    assert aftermath.left[what] == []


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


def _live(page: str) -> list[str]:
    """The scripts of attackers that a browser would run or load on this page, without the template's own scripts."""
    scripts = []
    for tag in BeautifulSoup(page, "html.parser").find_all(True):
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
