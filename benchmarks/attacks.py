"""Shows the effect of attacks that beat stock nbgrader on it and on our grader: `python -m benchmarks.attacks`.

                               +--> nbgrader autograde --> gradebook.db, autograded/ --+
    attacker, honest student --+                                                       +--> a row of the table
                               +--> grader grade --------> gradebook.db, autograded/ --+

Each class is an attacker and an honest student, who comes later in the order of names: a class run that stops, or a
gradebook that is lost, shows as the honest student's loss.
"""

import json
import runpy
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import nbformat
import nbgrader
from nbformat import NotebookNode

from benchmarks.classes import PROGRAMS, REPOSITORY, STOCK_CONFIG, environment
from grader.engine.notebook.cells import CellType, type_of
from tests.attacks.build import COURSE, RELEASED, RIGHT_DOUBLE, RIGHT_SCALE, SECRETS, SOURCE, answered, first, instead

HEADING = "## Attacks that beat stock nbgrader"
CORPUS = REPOSITORY / "tests" / "attacks" / "corpus"
ASSIGNMENT = "attacked"


@dataclass(frozen=True)
class Attack:
    """A submission that cheats: its number in the corpus, a description, and the points of its honest part."""

    number: str
    does: str
    earns: float
    submission: NotebookNode


# In the corpus, the function that replaces run_cell_async returns None, and stock nbgrader waits until every cell has
# timed out.
RUNNER = """
import types
from grader.engine.rpc.protocol import CellDone
from grader.engine.sandbox import shell as grader_shell
async def done(*args, **kwargs):
    return types.SimpleNamespace(success=True, error_before_exec=None, error_in_exec=None)
shell = type(get_ipython())
shell.run_cell_async = done
grader_shell.execute = lambda *args, **kwargs: None
grader_shell.Shell.run = lambda *args, **kwargs: CellDone()
"""
# In the corpus, 34 tries one way after the other, and the last of them undo the effects of the first.
MANUAL_SCORE = f"""{COURSE}
import sqlite3
with sqlite3.connect(course / "gradebook.db") as database:
    database.execute("UPDATE grade SET manual_score = 100")
"""
NO_GRADEBOOK = f"""{COURSE}
open(course / "gradebook.db", "wb").close()
"""
ADAPTED = (
    Attack("13", "Replaces run_cell_async by a function that reports success", 0, first(RELEASED, RUNNER)),
    Attack("34", "Writes a manual score of 100 into gradebook.db", 5, instead(RELEASED, MANUAL_SCORE)),
    Attack("34", "Empties gradebook.db", 5, instead(RELEASED, NO_GRADEBOOK)),
)
"""Attacks that the corpus writes against our grader, adapted with the same ideas to beat stock nbgrader."""


def attacks() -> list[Attack]:
    """Return the attacks of the corpus that are known to beat stock nbgrader."""
    adapted = {attack.number for attack in ADAPTED}
    starred = list(ADAPTED)
    for path in CORPUS.glob("*.py"):
        module = runpy.run_path(str(path))
        number = path.stem.partition("-")[0]
        if module.get("STARRED") and number not in adapted:
            does = module["__doc__"].splitlines()[0].rstrip(".").partition(",")[0]
            starred.append(Attack(number, does, module.get("EARNS", 0), module["submission"](RELEASED)))
    return sorted(starred, key=lambda attack: attack.number)


def table() -> str:
    """Return the section of the results, with a row for each attack that both graders graded."""
    rows = [
        f"| {attack.number} | {attack.does} | {attack.earns:g} | {outcome(attack, stock)} | {outcome(attack, ours)} |"
        for attack in attacks()
    ]
    return "\n".join([
        HEADING, "",
        f"`python -m benchmarks.attacks`, with nbgrader {nbgrader.__version__}. The starred attacks of "
        f"`tests/attacks/corpus/`, each in a class of its own with an honest student who is graded after the attacker "
        f"and deserves 10 points. Points are those in `gradebook.db`: attacker / honest student. An attacker reads "
        f"hidden tests if the outputs of their own cells hold a number that occurs only in hidden tests. Both "
        f"graders get the same submissions; {' and '.join(sorted({attack.number for attack in ADAPTED}))} are adapted, "
        f"because the versions in the corpus gain no points with stock nbgrader.", "",
        "| | the attack | its honest part is worth | stock nbgrader | `grader grade` |",
        "|---|---|--:|--:|--:|",
        *rows, "",
    ])  # fmt: skip


def outcome(attack: Attack, grade: Callable[[Path], None]) -> str:
    """Return the points of both students in one cell of the table.

    Args:
        attack: the attacker's submission.
        grade: a grader, which grades the class in a course folder.
    """
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
    """Grade the class with nbgrader alone, as its manual says."""
    (course / "nbgrader_config.py").write_text(STOCK_CONFIG)
    for command in ("generate_assignment", "autograde"):
        _run(course, "nbgrader", command, ASSIGNMENT)


def ours(course: Path) -> None:
    """Grade the class with our grader."""
    (course / "nbgrader_config.py").write_text((REPOSITORY / "nbgrader_config.py").read_text())
    _run(course, "grader", "grade", ASSIGNMENT)


def points(course: Path, student: str) -> str:
    """Return a student's points in the gradebook, by nbgrader's rule that a manual score replaces that of a test."""
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
    """Return True if the output of the student's own cells has a number that occurs only in hidden tests.

    The traceback of a failed test quotes the test, which is not a gain of the attack.
    """
    paths = course.glob(f"autograded/{student}/{ASSIGNMENT}/*.ipynb")
    cells = [
        cell for path in paths for cell in nbformat.read(path, as_version=4).cells if type_of(cell) is not CellType.TEST
    ]
    shown = json.dumps([cell.get("outputs", []) for cell in cells])
    return any(secret in shown for secret in SECRETS)


def _hand_in(folder: Path, notebook: NotebookNode) -> None:
    (folder / ASSIGNMENT).mkdir(parents=True)
    (folder / ASSIGNMENT / "exercises.ipynb").write_text(json.dumps(notebook))


def _run(course: Path, program: str, *arguments: str) -> None:
    # A class run that fails is a result. Working folders are beside the course, so that attacks find the way to it.
    subprocess.run(
        [str(PROGRAMS / program), *arguments], cwd=course, env=environment(TMPDIR=str(course.parent)),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


if __name__ == "__main__":
    print(table())
