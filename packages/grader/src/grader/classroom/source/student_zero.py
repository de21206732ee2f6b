"""Grades our own solution before the class, so that a mistake of ours costs no student a point.

    source, as a submission --grade--> Report --> Fault: a test that it fails, a read-only cell that does not run
    no fault --> stamp in autograded/.source/ASSIGNMENT, and it is graded again only after a change

The stamp is beside the completion markers of students and shares their fate: it is not committed where results are
not, and without autograded/ our solution is graded again, as the students are.
"""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grader.classroom.config import allows_broken_tests
from grader.classroom.course_dir import CourseDir
from grader.classroom.source.faults import Fault, lines_on, of_result
from grader.classroom.student import Assignment
from grader.engine.code_digest import engine_digest
from grader.engine.explanation import Ending
from grader.engine.grading import grade
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.notebook.names import names_used
from grader.engine.notebook.plan import Role, Step, plan
from grader.engine.report import Report, UnfinishedCell, Verdict
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor.pool import side_by_side
from grader.errors import SandboxUnavailable, UnsoundSource
from grader.files import replace_file

STUDENT = ".source"
"""The folder of the stamp among those of students; nbgrader's patterns leave out names that begin with a dot."""
STAMP = ".sound.json"
MEANT_TO_FAIL = "raises-exception"
"""Jupyter's tag of a cell that may raise."""

_known: dict[str, list[Fault]] = {}
"""The faults of the notebooks that this process has graded, by digest."""


def sound(course_dir: CourseDir, assignment: Assignment, *, jobs: int = 0, **options: Any) -> Assignment:
    """Return the assignment with the tests that our own solution fails, of which there are none unless `anyway`.

    Args:
        course_dir: the course folder.
        assignment: the assignment.
        jobs: the number of notebooks to grade at a time, 0 for one per core.
        options: those of `begin`.

    Raises:
        UnsoundSource: our solution loses points, or a read-only cell that is needed does not run.
    """
    with ThreadPoolExecutor(side_by_side(jobs)) as threads:
        return begin(course_dir, assignment, threads, **options)()


def begin(
    course_dir: CourseDir,
    assignment: Assignment,
    threads: Executor,
    *,
    anyway: bool = False,
    how: str = "--anyway",
    note: Callable[[str], None] = lambda line: None,
    keep_stamp: bool = True,
) -> Callable[[], Assignment]:
    """Begin to grade our own solution, and return a function that waits for the end, with the value of `sound`.

    Args:
        course_dir: the course folder.
        assignment: the assignment.
        threads: grade it. If they grade the class as well, no other processes are needed.
        anyway: whether to go on in spite of faults, as the course's setting can also say.
        how: how a person says so.
        note: prints a line on a fault that does not stop anything.
        keep_stamp: whether to write the stamp, where nothing else may be written either.
    """
    stamp = course_dir.folder("autograded", assignment.name, STUDENT) / STAMP
    digests = {name: _digest(assignment, text) for name, text in assignment.texts.items()}
    recorded = _recorded(stamp)
    unknown = [name for name, digest in digests.items() if digest not in recorded and digest not in _known]
    running = {name: threads.submit(_assessed, assignment, name) for name in unknown}

    def end() -> Assignment:
        for name, future in running.items():
            if (faults := future.result()) is not None:
                _known[digests[name]] = faults
        found = [fault for digest in digests.values() for fault in _known.get(digest, [])]
        are_all_known = recorded.union(_known).issuperset(digests.values())
        if keep_stamp and are_all_known and not found and not recorded.issuperset(digests.values()):
            with suppress(OSError):  # it is graded again the next time
                replace_file(stamp, json.dumps([*digests.values()]))
        may_go_on = anyway or allows_broken_tests(course_dir.config)
        return _with_faults(assignment, found, how if not may_go_on else "", note)

    return cache(end)


def _with_faults(assignment: Assignment, found: list[Fault], how: str, note: Callable[[str], None]) -> Assignment:
    """Return the assignment with the tests that fail; raise UnsoundSource if some do and `how` says how to go on."""
    stopping = [fault for fault in found if fault.stops]
    if stopping and how:
        raise UnsoundSource(
            f"our own solution of '{assignment.name}' does not pass our own tests, so nothing was done: correct these "
            f"cells, or go on with {how}",
            tuple(lines_on(stopping)),
        )
    for line in lines_on(fault for fault in found if not fault.stops):
        note(line)
    unsound: dict[str, dict[str, Ending]] = {}
    for fault in stopping:
        if fault.lost:
            unsound.setdefault(fault.notebook, {})[fault.cell] = fault.ending
    return replace(assignment, unsound=unsound)


def _recorded(stamp: Path) -> set[str]:
    """Return the digests of the notebooks without faults that an earlier process graded."""
    try:
        return set(json.loads(stamp.read_bytes()))
    except (OSError, ValueError, TypeError):
        return set()


def _digest(assignment: Assignment, text: str) -> str:
    """Return a digest of everything on which the faults of one notebook depend."""
    digest = hashlib.sha256(engine_digest(assignment.helper_packages).encode())
    limits = sorted(assignment.limits.trait_values(config=True).items())
    digest.update(repr((limits, assignment.sandbox, assignment.files.digest)).encode())
    digest.update(text.encode(errors="replace"))
    return digest.hexdigest()


def _assessed(assignment: Assignment, name: str) -> list[Fault] | None:
    """Grade one notebook against itself, and return its faults; None if it could not be confined, as no student can."""
    source = assignment.sources[name]
    report = grade(
        source,
        source,
        assignment.limits,
        sandbox=assignment.sandbox and _can_confine(),
        helper_packages=assignment.helper_packages,
        assignment_files=assignment.files,
    )
    if any(result.verdict is Verdict.NOT_CONFINED for result in report.results):
        return None
    return faults_of(name, source, report)


def _can_confine() -> bool:
    """Return whether the kernel confines; our own solution may run unconfined, where others grade the students."""
    try:
        confinement.check()
    except SandboxUnavailable:
        return False
    return True


def faults_of(name: str, source: NotebookNode, report: Report) -> list[Fault]:
    """Return the faults of a notebook: read-only cells, and then tests.

    Args:
        name: the notebook's name.
        source: the notebook.
        report: the report on it as a submission.
    """
    steps = plan(source, source)
    cells = [
        Fault(name, grade_id(source.cells[cell.index]) or "", cell.ending)
        for cell in report.unfinished
        if _is_needed(cell, source, steps)
    ]
    return cells + [of_result(name, result) for result in report.results if result.verdict is not Verdict.PASSED]


def _is_needed(cell: UnfinishedCell, source: NotebookNode, steps: list[Step]) -> bool:
    """Return whether a cell is read-only, is not meant to fail, and lacks a name that another one uses."""
    own = source.cells[cell.index] if cell.index >= 0 else None
    if own is None or type_of(own) is not CellType.READ_ONLY or MEANT_TO_FAIL in own.metadata.get("tags", ()):
        return False
    for step in steps:
        missing = cell.missing_in_tests if step.role is Role.TEST else cell.missing
        with suppress(SyntaxError, ValueError):  # an answer with magics
            if step.index > cell.index and not missing.isdisjoint(names_used(step.source)):
                return True
    return False
