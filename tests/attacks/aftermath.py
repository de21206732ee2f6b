"""Grades all attacks in one class with three honest students, and looks at what they left.

corpus/NN-name.py --> submitted/NN-name --+        submission() returns a notebook, place() makes a whole folder
three honest students --------------------+--> one class run --> Aftermath
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.results import StudentResult
from grader.engine.supervisor import forkserver
from tests.attacks.build import BLANK, LIMITS, RELEASED, RIGHT_DOUBLE, RIGHT_SCALE, SECRETS, SOURCE, answered
from tests.support import notebooks
from tests.support.idle import end_parsers, end_runners
from tests.support.memory import peak, reset_peak
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
        """Return all that the student can read besides their own cells: messages, repairs, outputs, errors."""
        graded = self.outcomes[student]
        texts = [result.message for report in graded.reports.values() for result in report.results]
        texts += [str(each) for report in graded.reports.values() for each in report.repairs]
        texts += [json.dumps(report.outputs) for report in graded.reports.values()] + graded.errors
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


def graded(
    base: Path, source: nbformat.NotebookNode = SOURCE, attacks: Mapping[str, ModuleType] = ATTACKS
) -> Aftermath:
    """Grade the class in the empty folder `base`, and return what is found afterwards.

    Args:
        base: the folder.
        source: the assignment.
        attacks: those that the class consists of, beside the honest students.
    """
    course = _make_class(base / "course", source, attacks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTACK_TOKEN", TOKEN)
        # The fork server must not count as a process that an attack left.
        forkserver.start("builtins:print").join()
        # With the working folders beside the course, an attacker finds the way from one to the other.
        (base / "scratch").mkdir()
        patch.setattr(tempfile, "tempdir", str(base / "scratch"))
        before, around = _look_at(course), _look_around(base)
        reset_peak()
        before_run = peak()
        outcomes = {result.student: result for result in ClassRun(CourseDir(course), ASSIGNMENT, jobs=2).outcomes()}
        # Runners and parsers wait for more work; any other process belongs to an attack.
        end_runners()
        end_parsers()
        after = _look_at(course)
        left = {what: sorted(set(now) - set(around[what])) for what, now in _look_around(base).items()}
        changed = [path for path in before if before[path] != after.get(path)]
        return Aftermath(course, outcomes, changed, left, (peak() - before_run) / 2**20)


def _make_class(course: Path, source: nbformat.NotebookNode, attacks: Mapping[str, ModuleType]) -> Path:
    course.mkdir()
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    with (course / "nbgrader_config.py").open("a") as config:
        config.writelines(f"\nc.Limits.{name} = {value}" for name, value in LIMITS.items())
    hand_in(course / "source" / ASSIGNMENT, source)
    for student, (honest, _) in HONEST.items():
        hand_in(course / "submitted" / student / ASSIGNMENT, honest)
    for student, module in attacks.items():
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
