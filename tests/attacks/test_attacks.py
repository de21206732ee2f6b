"""Shows that no attack of the corpus gains, learns, leaves or harms anything, in one class with three honest students.

corpus/NN-name.py --> submitted/NN-name --+        submission() returns a notebook, place() makes a whole folder
three honest students --------------------+--> one class run --> outcomes, gradebook, autograded/, feedback/
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from bs4 import BeautifulSoup

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.results import StudentResult
from grader.notebook.cells import CellType, grade_id, type_of
from grader.supervisor import forkserver, pool, readers
from tests.attacks.build import (
    BLANK,
    LIMITS,
    REACHED,
    RELEASED,
    RIGHT_DOUBLE,
    RIGHT_SCALE,
    SECRETS,
    SOURCE,
    answered,
)
from tests.support import notebooks
from tests.support.paths import REPOSITORY

CORPUS = Path(__file__).parent / "corpus"

ASSIGNMENT = "attacked"
NAME = "exercises"

TOKEN = "token-3141592"
NEIGHBOURS_WORDS = "what-ann-wrote-2718281"
LOOT = (*SECRETS, TOKEN, NEIGHBOURS_WORDS, "root:x:0")
"""Secrets: inputs of hidden tests, the grader's environment, another student's answer, the content of a file."""

HONEST = {
    # By their names, they are graded in the middle of the attackers.
    "30n-ann": (answered(RELEASED, RIGHT_DOUBLE, RIGHT_SCALE), 10.0),
    "42n-ben": (answered(RELEASED, RIGHT_DOUBLE, BLANK), 5.0),
    "48n-cleo": (answered(RELEASED, BLANK, BLANK), 0.0),
}
notebooks.cell(HONEST["30n-ann"][0], "question").source = NEIGHBOURS_WORDS

LEFTOVERS = ("record", "poison", "fill", "a", "b", "mine.db", "link", "torch.py", "sitecustomize.py", ".cache/poison")
"""The files that attacks try to make."""

SCRIPTING = ("script", "iframe", "object", "embed", "base", "form", "svg", "math", "style", "link", "meta")
LINKING = ("href", "src", "action", "formaction", "data", "srcdoc", "xlink:href")

MAX_MEGABYTES = 400
"""What the grader's own process may take for two large files at a time, nbgrader's tables and the pages."""

FLAWS = ("SyntaxError", "IndentationError", "NameError", "ImportError", "ModuleNotFoundError", "AttributeError")
"""Errors of attacks that do not fit the present grader any more, and so prove nothing."""


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ATTACKS = {path.stem: _load(path) for path in sorted(CORPUS.glob("*.py"))}


@dataclass
class Aftermath:
    """The course folder after the class run, the students' results, and the changes found afterwards.

    `changed` are files of the course that the run must not touch, `left` what remains outside the course, by its kind,
    and `megabytes` how much memory the grader's own process took at most.
    """

    course: Path
    outcomes: dict[str, StudentResult]
    changed: list[str]
    left: dict[str, list[str]]
    megabytes: float

    def shown(self, student: str) -> str:
        """Return all that the student can read besides their own cells: messages, repairs, outputs, troubles."""
        graded = self.outcomes[student]
        texts = [result.message for report in graded.reports.values() for result in report.results]
        texts += [line for report in graded.reports.values() for line in report.repairs]
        texts += [json.dumps(report.outputs) for report in graded.reports.values()] + graded.troubles
        for path in self.folder("autograded", student).glob("*.ipynb"):
            cells = nbformat.read(path, as_version=4).cells
            texts += [json.dumps(cell.outputs) for cell in cells if cell.cell_type == "code"]
        return "\n".join(texts)

    def folder(self, step: str, student: str) -> Path:
        """Return the folder of a student after a step of grading."""
        return self.course / step / student / ASSIGNMENT

    def scores(self) -> dict[tuple[str, str], float | None]:
        """Return the scores in the gradebook, by student and test cell."""
        query = """
            SELECT submitted_assignment.student_id, base_cell.name, auto_score, manual_score, extra_credit FROM grade
            JOIN base_cell ON base_cell.id = grade.cell_id
            JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
            JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
        """
        with sqlite3.connect(self.course / "gradebook.db") as database:
            rows = database.execute(query).fetchall()
        assert all(manual is None and extra is None for *_, manual, extra in rows)
        return {(student, name): score for student, name, score, _, _ in rows}


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    """Grade the class once for all tests."""
    base = tmp_path_factory.mktemp("attacks")
    course = _make_class(base / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTACK_TOKEN", TOKEN)
        # The fork server must not count as a process that an attack left.
        forkserver.start("builtins:print").join()
        # With the working folders beside the course, an attacker finds the way from one to the other.
        (base / "scratch").mkdir()
        patch.setattr(tempfile, "tempdir", str(base / "scratch"))
        before, around = _look_at(course), _look_around(base)
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        peak = _peak_megabytes()
        outcomes = {graded.student: graded for graded in ClassRun(CourseDir(course), ASSIGNMENT, jobs=2).outcomes()}
        # Runners and readers wait for more work; any other process belongs to an attack.
        pool.dismiss()
        readers.dismiss()
        after = _look_at(course)
        left = {what: sorted(set(now) - set(around[what])) for what, now in _look_around(base).items()}
        changed = [path for path in before if before[path] != after.get(path)]
        yield Aftermath(course, outcomes, changed, left, _peak_megabytes() - peak)


def _peak_megabytes() -> float:
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def _make_class(course: Path) -> Path:
    course.mkdir()
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    with (course / "nbgrader_config.py").open("a") as config:
        config.writelines(f"\nc.Limits.{name} = {value}" for name, value in LIMITS.items())
    hand_in(course / "source" / ASSIGNMENT, SOURCE)
    for student, (honest, _) in HONEST.items():
        hand_in(course / "submitted" / student / ASSIGNMENT, honest)
    for student, module in ATTACKS.items():
        if hasattr(module, "place"):
            module.place(course / "submitted" / student, ASSIGNMENT)
        else:
            hand_in(course / "submitted" / student / ASSIGNMENT, module.submission(RELEASED))
    return course


def hand_in(folder: Path, notebook: nbformat.NotebookNode | bytes) -> None:
    """Write a notebook, or any bytes, into a new folder."""
    folder.mkdir(parents=True)
    data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    (folder / f"{NAME}.ipynb").write_bytes(data)


def _look_at(course: Path) -> dict[str, tuple]:
    """The content, mode, owner and time of each file of the course, and the mode and owner of each folder."""
    seen = {}
    for path in [course, *sorted(course.rglob("*"))]:
        status = path.lstat()
        seen[str(path)] = (
            status.st_mode,
            status.st_uid,
            status.st_gid,
            tuple(os.listxattr(path, follow_symlinks=False)),
        )
        if path.is_file():
            seen[str(path)] += (status.st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
    return seen


def _look_around(base: Path) -> dict[str, list[str]]:
    """Everything that a submission could leave outside the course, by its kind."""
    places = (base, REPOSITORY, Path.home(), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), base / "scratch")
    return {
        "processes": _children_of_fork_server(),
        "working folders": os.listdir(base / "scratch"),
        "files": [str(place / name) for place in places for name in LEFTOVERS if (place / name).exists()],
        "shared memory": Path("/proc/sysvipc/shm").read_text().splitlines(),
        "semaphores": Path("/proc/sysvipc/sem").read_text().splitlines(),
        "queues": Path("/proc/sysvipc/msg").read_text().splitlines(),
    }


def _children_of_fork_server() -> list[str]:
    """The processes that the fork server of this process has started and that still exist."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().partition(" ")
        except OSError:
            continue  # it has ended
        parents[number] = rest.rpartition(")")[2].split()[1]
    children = {number for number, parent in parents.items() if parent == str(os.getpid())}
    return [number for number, parent in parents.items() if parent in children]


@pytest.mark.parametrize("attack", ATTACKS)
def test_earns_what_its_honest_part_earns(aftermath: Aftermath, attack: str) -> None:
    """The report and the gradebook hold the points of the exercises that the attacker solved, and no others."""
    expected = float(getattr(ATTACKS[attack], "EARNS", 0))
    graded = aftermath.outcomes[attack]
    results = [result for report in graded.reports.values() for result in report.results]
    verdicts = [f"{result.name}: {result.verdict} {result.points:g} {result.message}" for result in results]
    assert sum(report.points for report in graded.reports.values()) == expected, (verdicts, graded.troubles)
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
    assert count(attack) in ([], count(next(iter(HONEST))))


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
    assert graded.troubles == [] and graded.reports[NAME].repairs == []
    assert sum(score or 0 for (name, _), score in aftermath.scores().items() if name == student) == points


def test_every_student_is_graded(aftermath: Aftermath) -> None:
    """No student is left out because of another one, and a student without a report has a reason."""
    assert sorted(aftermath.outcomes) == sorted([*ATTACKS, *HONEST])
    assert all(graded.reports or graded.troubles for graded in aftermath.outcomes.values())


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
