"""Which cell of a notebook runs where, in which order."""

import hashlib
import re
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING

from course.grading.names import names_bound, names_used
from course.grading.notebook import HIDDEN, Kind, exercise_of, grade_id, is_experiment, is_for_candidate, kind, refused

if TYPE_CHECKING:
    from nbformat import NotebookNode

MAGIC = re.compile(r"^\s*[%!]", re.MULTILINE)


class Role(Enum):
    """Who runs a cell."""

    CANDIDATE = "candidate"
    BOTH = "both"
    TEST = "test"


@dataclass(frozen=True)
class Step:
    """One code cell to run. `exercise` is the answer cell that it is or tests, '' for the student's own cells.

    `refused` are the functions of torch that student code must do without while this test calls it. `is_ours` where
    every word of it stands in the source.
    """

    index: int
    name: str
    role: Role
    source: str
    exercise: str = ""
    points: float = 0.0
    is_hidden: bool = False
    refused: tuple[str, ...] = ()
    is_ours: bool = False


def plan(notebook: "NotebookNode", source: "NotebookNode | None" = None) -> list[Step]:
    """The steps of a repaired notebook: all its code cells but the experiments, in their order.

    With `source` they know which of them are the source's to the letter.
    """
    ours = {cell.source for cell in source.cells} if source is not None else ()
    without = {name: refused(cell) for cell in notebook.cells if kind(cell) is Kind.ANSWER and (name := grade_id(cell))}
    exercises = list(without)
    steps = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or is_experiment(cell):
            continue
        name, is_ours = grade_id(cell) or f"cell {index + 1}", cell.source in ours
        match kind(cell):
            case Kind.TEST:
                points = float(cell.metadata.nbgrader.points)
                exercise = exercise_of(name, exercises)
                code, names = _as_python(cell.source), without.get(exercise, ())
                steps.append(Step(index, name, Role.TEST, code, exercise, points, HIDDEN in code, names))
            case Kind.READ_ONLY:
                role = Role.CANDIDATE if is_for_candidate(cell) else Role.BOTH
                steps.append(Step(index, name, role, _as_python(cell.source), is_ours=is_ours))
            case Kind.ANSWER | Kind.WRITTEN:
                steps.append(Step(index, name, Role.CANDIDATE, cell.source, name, is_ours=is_ours))
            case Kind.FREE:
                steps.append(Step(index, name, Role.CANDIDATE, cell.source, is_ours=is_ours))
    return steps


def places(steps: list[Step]) -> dict[int, int]:
    """How many hidden tests stand before each step: between two of them nobody looks at the student's names."""
    before = accumulate((step.is_hidden for step in steps), initial=0)
    return {step.index: count for step, count in zip(steps, before, strict=False)}


def wanted_later(steps: list[Step]) -> dict[int, set[str]]:
    """The names that the examiner's cells behind each step read: a module that none of them wants can be let go.

    Every call takes care of all modules that are still there.
    """
    wanted: set[str] = set()
    found = {}
    for step in reversed(steps):
        found[step.index] = set(wanted)
        if step.role is not Role.CANDIDATE:
            wanted.update(names_used(step.source))
    return found


def talks(steps: list[Step]) -> dict[int, int]:
    """The conversation that each test is part of: 0 for one of its own, a number for those that share what one left."""
    found = {step.index: 0 for step in steps if step.role is Role.TEST}
    wanted = wanted_later(steps)
    for number, step in enumerate(steps):
        left = names_bound(step.source) & wanted[step.index] if step.role is Role.TEST else frozenset()
        if left:
            behind = [later for later in steps[number + 1 :] if later.role is not Role.CANDIDATE]
            users = [later.index for later in behind if left & set(names_used(later.source))]
            together = {step.index, *users} & found.keys()
            joined = {found[index] for index in together} - {0}
            talk = min(joined, default=step.index + 1)
            found = {index: talk if index in together or own in joined else own for index, own in found.items()}
    return found


def digests(steps: list[Step]) -> dict[int, bytes]:
    """What names each test and all that the examiner has run before it."""
    before, found = hashlib.sha256(), {}
    for step in steps:
        if step.role is not Role.CANDIDATE:
            before.update(repr((step.name, step.role, step.source, step.points, step.is_hidden, step.refused)).encode())
            found[step.index] = before.digest()
    return found


def _as_python(source: str) -> str:
    """A cell of ours with its magics as calls of IPython; the student's cells meet IPython itself."""
    if not MAGIC.search(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # slow to load, and hardly any cell needs it

    return TransformerManager().transform_cell(source)
