"""Plans the process and order in which the cells of a notebook run, and the sessions that its tests share."""

import builtins
import hashlib
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from grader.engine.explanation import Explanation
from grader.engine.notebook.cells import HIDDEN, CellType, is_not_graded, is_sandbox_only, is_together
from grader.engine.notebook.magics import as_python, syntax_error
from grader.engine.notebook.names import (
    View,
    functions_unused,
    names_borrowed,
    names_bound,
    names_read_later,
    names_rebound,
    names_used,
)  # fmt: skip
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.source_names import SourceNames
from grader.engine.report import Result, Verdict

if TYPE_CHECKING:
    from nbformat import NotebookNode

BLANK = "raise NotImplementedError"
"""The line of the release that marks an unwritten answer."""


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
    true if the source notebook has a cell with exactly this text, and `is_own` if the student added the cell. If
    `imports_only`, the imports of the cell run and nothing else. If `together`, this test runs in one process with the
    student's code, and not in the runner.
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
    is_own: bool = False
    imports_only: bool = False
    together: bool = False

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
        return Result(
            self.name, self.exercise, verdict, points, self.points, explanation or Explanation(), log=log,
            together=self.together,
        )  # fmt: skip


def plan(notebook: "NotebookNode", source: "NotebookNode | None" = None) -> list[Step]:
    """Return the steps of a repaired notebook: all its code cells that are graded, in order.

    Args:
        notebook: the repaired submission, or a source.
        source: the instructor's notebook, to find unchanged cells.
    """
    source_texts = {cell.source for cell in source.cells} if source is not None else set()
    outline, steps = Outline(notebook, source), []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or is_not_graded(cell):
            continue
        name, is_ours = outline.names[index] or f"cell {index + 1}", cell.source in source_texts
        exercise = outline.exercise_at[index]
        match outline.types[index]:
            case CellType.TEST:
                code, points = runnable(cell.source), float(cell.metadata.nbgrader.get("points") or 0)
                words, together = outline.exercises[exercise].forbidden, is_together(notebook) or is_together(cell)
                is_hidden = HIDDEN in cell.source
                steps.append(Step(index, name, Role.TEST, code, exercise, points, is_hidden, words, together=together))
            case CellType.READ_ONLY:
                role = Role.SANDBOX if is_sandbox_only(cell) else Role.BOTH
                steps.append(Step(index, name, role, runnable(cell.source), is_ours=is_ours))
            case _:
                is_own = outline.types[index] is CellType.UNMARKED and not is_ours
                steps.append(Step(index, name, Role.SANDBOX, cell.source, exercise, is_ours=is_ours, is_own=is_own))
    return steps


def runnable(source: str) -> str:
    """Return an instructor's cell as Python that compiles: one with a syntax error raises it when it runs.

    So a test that cannot be compiled costs its own points, and no others.
    """
    if (error := syntax_error(source)) is None:
        return as_python(source)
    place = f"line {error.lineno}: " if error.lineno else ""
    return f"raise SyntaxError({place + error.msg!r})"


@dataclass(frozen=True)
class Plan:
    """The steps of a notebook, and facts derived from them, in dicts by the index of the step.

    `names` says what the cells of its source import and define, and `files` is a digest of the assignment's files.
    """

    steps: list[Step]
    names: SourceNames = field(default_factory=SourceNames)
    files: str = ""

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each step: the number of tests before it. Between two tests, no test looks at names."""
        before = accumulate((step.role is Role.TEST for step in self.steps), initial=0)
        return {step.index: count for step, count in zip(self.steps, before, strict=False)}

    @cached_property
    def used(self) -> dict[int, list[str]]:
        """The names that each cell in the runner reads, in functions of earlier cells that it may call as well."""
        reads: dict[str, frozenset[str]] = {}
        used = {}
        for step in self.steps:
            if step.role is not Role.SANDBOX:
                found = set(names_used(step.source))
                for name in (unseen := list(found)):
                    new = reads.get(name, frozenset()) - found
                    found |= new
                    unseen += new
                used[step.index] = sorted(found - names_bound(step.source))
                for bound, inner, own in names_read_later(step.source):
                    reads |= dict.fromkeys(bound, inner.union(*(reads[each] for each in own & reads.keys())))
        return used

    @cached_property
    def python(self) -> frozenset[str]:
        """The names of Python that mean Python's own objects: no answer of the source defines them."""
        return frozenset(vars(builtins)) - self.names.answers_define

    @cached_property
    def checks(self) -> dict[int, dict[str, int]]:
        """At each test, the places of the checks of the exercises so far: the last visible test, or the first test."""
        checks: dict[str, int] = {}
        checks_at = {}
        for step in self.steps:
            if step.role is Role.TEST:
                if not step.is_hidden or step.exercise not in checks:
                    checks = {**checks, step.exercise: self.places[step.index]}
                checks_at[step.index] = checks
        return checks_at

    @cached_property
    def views(self) -> dict[int, View | None]:
        """The names that each test sees; None for a visible test that no cell below an earlier check can spoil.

        A visible test sees the names that its exercise has there. Only those of earlier exercises are as they were at
        their checks: the names that their tests use. Nothing in a view depends on a submission or on later tests.
        """
        views: dict[int, View | None] = {}
        for step in self.steps:
            if step.role is Role.TEST:
                place, checks = self.places[step.index], self.checks[step.index]
                earlier = {exercise: check for exercise, check in checks.items() if check < place}
                names = {name: earlier[owner] for name, owner in self.owners[step.index].items() if owner in earlier}
                check = checks[step.exercise] if step.is_hidden else None
                views[step.index] = (
                    View(place, check, step.exercise, names, earlier) if earlier or step.is_hidden else None
                )
        return views

    @cached_property
    def owners(self) -> dict[int, dict[str, str]]:
        """At each test, the exercises of the student's names so far: the first exercise whose tests use the name."""
        ours = {name for step in self.steps if step.role is Role.BOTH for name in names_bound(step.source)}
        ours |= self.names.imported
        owners: dict[str, str] = {}
        owners_at = {}
        for step in self.steps:
            if step.role is Role.TEST:
                used = set(self.used[step.index]) - ours - owners.keys() - self.python
                owners = owners | dict.fromkeys(sorted(used), step.exercise)
                owners_at[step.index] = owners
        return owners_at

    @cached_property
    def judged_names(self) -> list[str]:
        """The names that tests ask of the student's code. No import may stand in for one that no cell binds."""
        return sorted(list(self.owners.values())[-1]) if self.owners else []

    @cached_property
    def borrowed(self) -> dict[int, frozenset[str]]:
        """The student's names that each test rebinds or deletes and uses before, or that answers define as functions.

        They are back after the test. Any other name that a test binds is its own, also for later tests.
        """
        ours, borrowed = set(self.python), {}
        for step in self.steps:
            if step.role is Role.TEST:
                functions = names_rebound(step.source) & self.names.answers_define
                borrowed[step.index] = (names_borrowed(step.source) | functions) - ours
                ours |= names_bound(step.source) - borrowed[step.index]
            elif step.role is Role.BOTH:
                ours |= names_bound(step.source)
        return borrowed

    @cached_property
    def rebound(self) -> dict[int, frozenset[str]]:
        """The names that each test rebinds or deletes and that answers may use.

        The source's answers bind or use them, or Python has them, or the test itself has no use for them.
        """
        known = self.names.answers_bind | self.names.answers_use | vars(builtins).keys()
        return {
            step.index: known & names_rebound(step.source) | functions_unused(step.source)
            for step in self.steps
            if step.role is Role.TEST
        }

    def changed(self, step: Step) -> frozenset[str]:
        """Return the names that cells of ours bind and that are the student's at a test or a cell of ours.

        Args:
            step: the test or cell.
        """
        return self.names.changed.get(step.name, frozenset())

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
                needed.update(self.used[step.index])
        return needed_later

    @cached_property
    def sessions(self) -> dict[int, int]:
        """The session id of each test: 0 for its own session, another number for tests that share objects."""
        ids = {step.index: 0 for step in self.steps if step.role is Role.TEST and not step.together}
        for number, step in enumerate(self.steps):
            shared = frozenset[str]()
            if step.role is Role.TEST and not step.together:
                shared = names_bound(step.source) & self.needed_later[step.index] - self.borrowed[step.index]
            if shared:
                later_steps = [later for later in self.steps[number + 1 :] if later.role is not Role.SANDBOX]
                users = [later.index for later in later_steps if shared & set(self.used[later.index])]
                tests = {step.index, *users} & ids.keys()
                merged = {ids[index] for index in tests} - {0}
                new = min(merged, default=step.index + 1)
                ids = {index: new if index in tests or old in merged else old for index, old in ids.items()}
        return ids

    @cached_property
    def digests(self) -> dict[int, bytes]:
        """A digest of each test together with everything that the runner runs before it."""
        digest, digests = hashlib.sha256(f"{self.names.digest} {self.files}".encode()), {}
        for step in self.steps:
            if step.role is not Role.SANDBOX:
                parts = (step.name, step.role, step.source, step.points, step.is_hidden, step.forbidden)
                digest.update(repr(parts).encode())
                digests[step.index] = digest.digest()
        return digests
