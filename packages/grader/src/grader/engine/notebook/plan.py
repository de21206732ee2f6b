"""Plans the process and order in which the cells of a notebook run, and the sessions that its tests share."""

import hashlib
import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from grader.engine.explanation import Explanation
from grader.engine.notebook.cells import HIDDEN, CellType, is_not_graded, is_sandbox_only
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.outline import Outline
from grader.engine.report import Result, Verdict

if TYPE_CHECKING:
    from nbformat import NotebookNode

MAGIC = re.compile(r"^\s*[%!]", re.MULTILINE)


class Role(Enum):
    """Which process runs a cell."""

    SANDBOX = "sandbox"
    BOTH = "both"
    TEST = "test"


@dataclass(frozen=True)
class Step:
    """One code cell to run.

    `exercise` is the answer cell that the cell is or tests, or '' for the student's own cells. While this test calls
    student code, that code may not call a library function with one of the words `forbidden` in its name. `is_ours` is
    true if the source notebook has a cell with exactly this text.
    """

    index: int
    name: str
    role: Role
    source: str
    exercise: str = ""
    points: float = 0.0
    is_hidden: bool = False
    forbidden: tuple[str, ...] = ()
    is_ours: bool = False

    def result(
        self, verdict: Verdict, explanation: Explanation | None = None, log: str = "", points: float = 0.0
    ) -> Result:
        """Return a result of this test.

        Args:
            verdict: how it ended.
            explanation: what to tell the student.
            log: a log for the instructor.
            points: what it gave; a test that did not run to its end gives none.
        """
        return Result(self.name, self.exercise, verdict, points, self.points, explanation or Explanation(), log=log)


def plan(notebook: "NotebookNode", source: "NotebookNode | None" = None) -> list[Step]:
    """Return the steps of a repaired notebook: all its code cells that are graded, in order.

    Args:
        notebook: the repaired submission, or a source.
        source: the instructor's notebook, to find unchanged cells.
    """
    source_texts = {cell.source for cell in source.cells} if source is not None else set()
    outline, steps = Outline(notebook), []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or is_not_graded(cell):
            continue
        name, is_ours = outline.names[index] or f"cell {index + 1}", cell.source in source_texts
        exercise = outline.exercise_at[index]
        match outline.types[index]:
            case CellType.TEST:
                code, points = _as_python(cell.source), float(cell.metadata.nbgrader.points)
                words = outline.exercises[exercise].forbidden
                steps.append(Step(index, name, Role.TEST, code, exercise, points, HIDDEN in code, words))
            case CellType.READ_ONLY:
                role = Role.SANDBOX if is_sandbox_only(cell) else Role.BOTH
                steps.append(Step(index, name, role, _as_python(cell.source), is_ours=is_ours))
            case _:
                steps.append(Step(index, name, Role.SANDBOX, cell.source, exercise, is_ours=is_ours))
    return steps


@dataclass(frozen=True)
class Plan:
    """The steps of a notebook, and facts derived from them, in dicts by the index of the step."""

    steps: list[Step]

    @cached_property
    def snapshots(self) -> dict[int, int]:
        """The snapshot that holds the student's names at each step: the number of hidden tests before it.

        Between two hidden tests, no test looks at these names, so one snapshot will do.
        """
        before = accumulate((step.is_hidden for step in self.steps), initial=0)
        return {step.index: count for step, count in zip(self.steps, before, strict=False)}

    @cached_property
    def needed_later(self) -> dict[int, set[str]]:
        """The names that later cells in the runner read.

        A module that none of them needs can be dropped, which saves time: each call syncs all modules that exist.
        """
        needed: set[str] = set()
        needed_later = {}
        for step in reversed(self.steps):
            needed_later[step.index] = set(needed)
            if step.role is not Role.SANDBOX:
                needed.update(names_used(step.source))
        return needed_later

    @cached_property
    def sessions(self) -> dict[int, int]:
        """The session id of each test: 0 for its own session, another number for tests that share objects."""
        ids = {step.index: 0 for step in self.steps if step.role is Role.TEST}
        for number, step in enumerate(self.steps):
            shared = names_bound(step.source) & self.needed_later[step.index] if step.role is Role.TEST else frozenset()
            if shared:
                later_steps = [later for later in self.steps[number + 1 :] if later.role is not Role.SANDBOX]
                users = [later.index for later in later_steps if shared & set(names_used(later.source))]
                tests = {step.index, *users} & ids.keys()
                merged = {ids[index] for index in tests} - {0}
                new = min(merged, default=step.index + 1)
                ids = {index: new if index in tests or old in merged else old for index, old in ids.items()}
        return ids

    @cached_property
    def digests(self) -> dict[int, bytes]:
        """A digest of each test together with everything that the runner runs before it."""
        digest, digests = hashlib.sha256(), {}
        for step in self.steps:
            if step.role is not Role.SANDBOX:
                parts = (step.name, step.role, step.source, step.points, step.is_hidden, step.forbidden)
                digest.update(repr(parts).encode())
                digests[step.index] = digest.digest()
        return digests


def _as_python(source: str) -> str:
    """Return an instructor's cell with its magics as calls of IPython, which itself handles those of students."""
    if not MAGIC.search(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # slow to load, and rarely needed

    return TransformerManager().transform_cell(source)
