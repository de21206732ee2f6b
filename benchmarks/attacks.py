"""python -m benchmarks.attacks: what the attacks that beat stock nbgrader do to it, and what they do to our grader.

Each class is an attacker and an honest student, who comes later in the order of names: a class run that stops and a
gradebook that is lost show as the honest student's loss.

                           +--> nbgrader autograde -----> gradebook.db, autograded/ --+
attacker, honest student --+                                                          +--> a row of the table
                           +--> python -m course grade -> gradebook.db, autograded/ --+
"""

import json
import runpy
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import nbformat
import nbgrader
from nbformat import NotebookNode

from benchmarks.classes import REPOSITORY, STOCK_CONFIG, environment
from course.grading.notebook import Kind, kind

sys.path.insert(0, str(REPOSITORY / "tests"))

from attacks.build import COURSE, RELEASED, RIGHT_DOUBLE, RIGHT_SCALE, SECRETS, SOURCE, answered, first, instead

HEADING = "## Attacks that beat stock nbgrader"
CORPUS = REPOSITORY / "tests" / "attacks" / "corpus"
ASSIGNMENT = "attacked"


@dataclass(frozen=True)
class Attack:
    """A submission that cheats: its number in the corpus, what it does, and what its honest part is worth."""

    number: str
    does: str
    earns: float
    submission: NotebookNode


# As written, the runner of 13 never replies, and stock nbgrader waits until every cell has timed out.
RUNNER = """
import types
import course.grading.cells as cells
async def done(*args, **kwargs):
    return types.SimpleNamespace(success=True, error_before_exec=None, error_in_exec=None)
shell = type(get_ipython())
shell.run_cell_async = done
cells.execute = lambda *args, **kwargs: None
cells.Shell.run = lambda *args, **kwargs: {"outputs": [], "raised": None}
"""
# As written, 34 tries one way after the other, and the last of them undo what the first have done.
MANUAL_SCORE = f"""{COURSE}
import sqlite3
with sqlite3.connect(course / "gradebook.db") as database:
    database.execute("UPDATE grade SET manual_score = 100")
"""
NO_GRADEBOOK = f"""{COURSE}
open(course / "gradebook.db", "wb").close()
"""
ADAPTED = (
    Attack("13", "Replaces run_cell_async by a function that says all went well", 0, first(RELEASED, RUNNER)),
    Attack("34", "Writes a manual score of 100 into gradebook.db", 5, instead(RELEASED, MANUAL_SCORE)),
    Attack("34", "Empties gradebook.db", 5, instead(RELEASED, NO_GRADEBOOK)),
)
"""The attacks that are written against our grader, with the same ideas put so that they beat stock nbgrader."""


def attacks() -> list[Attack]:
    """The attacks of the corpus that are known to beat stock nbgrader."""
    adapted = {attack.number for attack in ADAPTED}
    found = list(ADAPTED)
    for path in CORPUS.glob("*.py"):
        module = runpy.run_path(str(path))
        number = path.stem.partition("-")[0]
        if module.get("STARRED") and number not in adapted:
            does = module["__doc__"].splitlines()[0].rstrip(".").partition(",")[0]
            found.append(Attack(number, does, module.get("EARNS", 0), module["submission"](RELEASED)))
    return sorted(found, key=lambda attack: attack.number)


def table() -> str:
    """The section of the results: a row an attack, each graded by both graders."""
    rows = [
        f"| {attack.number} | {attack.does} | {attack.earns:g} | {outcome(attack, stock)} | {outcome(attack, ours)} |"
        for attack in attacks()
    ]
    return "\n".join([
        HEADING, "",
        f"`python -m benchmarks.attacks`, with nbgrader {nbgrader.__version__}. The starred attacks of "
        f"`tests/attacks/corpus/`, each in a class of its own with an honest student who is graded after the attacker "
        f"and deserves 10 points. Points are those in `gradebook.db`: attacker / honest student. An attacker reads "
        f"hidden tests where the outputs of their own cells hold a number that stands in hidden tests only. Both "
        f"graders get the same submissions; {' and '.join(sorted({attack.number for attack in ADAPTED}))} are adapted, "
        f"for as they stand in the corpus they gain no points with stock nbgrader.", "",
        "| | the attack | its honest part is worth | stock nbgrader | `python -m course grade` |",
        "|---|---|--:|--:|--:|",
        *rows, "",
    ])  # fmt: skip


def outcome(attack: Attack, grade: Callable[[Path], None]) -> str:
    """What a grader makes of an attack, as the table says it."""
    with tempfile.TemporaryDirectory() as name:
        # Attacks look for a folder of this name with a gradebook, above their working folder.
        course = Path(name) / "course"
        _hand_in(course / "source", SOURCE)
        _hand_in(course / "submitted" / "attacker", attack.submission)
        _hand_in(course / "submitted" / "honest", answered(RELEASED, RIGHT_DOUBLE, RIGHT_SCALE))
        grade(course)
        reads = ", reads hidden tests" if reads_hidden_tests(course, "attacker") else ""
        return f"{points(course, 'attacker')}{reads} / {points(course, 'honest')}"


def stock(course: Path) -> None:
    """Grades the class with nbgrader alone, as its manual says."""
    (course / "nbgrader_config.py").write_text(STOCK_CONFIG)
    _run(course, "nbgrader", "generate_assignment", ASSIGNMENT)
    _run(course, "nbgrader", "autograde", ASSIGNMENT)


def ours(course: Path) -> None:
    """Grades the class with our grader."""
    (course / "nbgrader_config.py").write_text((REPOSITORY / "nbgrader_config.py").read_text())
    _run(course, "course", "grade", ASSIGNMENT)


def points(course: Path, student: str) -> str:
    """What the gradebook says of a student, by nbgrader's rule that a manual score goes before that of a test."""
    query = """
        SELECT sum(coalesce(manual_score, auto_score) + coalesce(extra_credit, 0)) FROM grade
        JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
        WHERE student_id = ?
    """
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        (score,) = database.execute(query, [student]).fetchone()
    return "no score" if score is None else f"{score:g}"


def reads_hidden_tests(course: Path, student: str) -> bool:
    """Whether the student's own cells put out what stands in hidden tests only.

    Tests have outputs too, and the traceback of one that failed quotes it: that is no gain of the attack.
    """
    paths = course.glob(f"autograded/{student}/{ASSIGNMENT}/*.ipynb")
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells if kind(cell) is not Kind.TEST]
    shown = json.dumps([cell.get("outputs", []) for cell in cells])
    return any(secret in shown for secret in SECRETS)


def _hand_in(folder: Path, notebook: NotebookNode) -> None:
    (folder / ASSIGNMENT).mkdir(parents=True)
    (folder / ASSIGNMENT / "exercises.ipynb").write_text(json.dumps(notebook))


def _run(course: Path, *command: str) -> None:
    # That a class run fails is a result. Private working folders lie beside the course, where attacks look for it.
    subprocess.run(
        [sys.executable, "-m", *command], cwd=course, env=environment(TMPDIR=str(course.parent)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


if __name__ == "__main__":
    print(table())
