"""Finds the cells of a submission that are not run as the student wrote them: their imports count, other names do not.

Tests are not run there either: what a visible one imports, the cells below it see as well.

source, submission, repaired notebook --cells_not_run--> NotRunCell --imports--> steps that run first
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.engine.explanation import NotRunKind
from grader.engine.notebook.cells import CellType, grade_id, is_not_graded, type_of
from grader.engine.notebook.magics import without_magics
from grader.engine.notebook.names import names_bound
from grader.engine.notebook.plan import Role, Step
from grader.engine.notebook.source_names import SourceNames

if TYPE_CHECKING:
    from nbformat import NotebookNode

IMPORT = re.compile(r"^(?:import|from)\s", re.MULTILINE)
RESTORED = {CellType.TEST: NotRunKind.TEST, CellType.READ_ONLY: NotRunKind.READ_ONLY}


@dataclass(frozen=True)
class NotRunCell:
    """A code cell that is not run: its name or number, why it is not, and its text."""

    name: str
    kind: NotRunKind
    source: str


def cells_not_run(source: "NotebookNode", submission: "NotebookNode", repaired: "NotebookNode") -> list[NotRunCell]:
    """Return experiments, and the submission's versions of tests and of changed read-only cells.

    Args:
        source: the instructor's notebook.
        submission: the student's.
        repaired: the notebook that is graded.
    """
    found = [
        NotRunCell(f"cell {number}", NotRunKind.EXPERIMENT, cell.source)
        for number, cell in enumerate(repaired.cells, 1)
        if cell.cell_type == "code" and is_not_graded(cell)
    ]
    originals = {name: cell for cell in source.cells if (name := grade_id(cell))}
    for cell in submission.cells:
        original = originals.get(grade_id(cell) or "")
        if original is None or cell.cell_type != "code" or cell.source == original.source:
            continue
        if kind := RESTORED.get(type_of(original)):
            found.append(NotRunCell(str(grade_id(cell)), kind, cell.source))
    return found


def imports(cells: Iterable[NotRunCell], steps: Iterable[Step]) -> list[Step]:
    """Return steps that run the imports of a submission before everything else.

    A cell that is run may import a name below its use, so it counts here, too; what it binds later replaces the import.

    Args:
        cells: the cells that are not run.
        steps: those that are.
    """
    sources = [(f"imports of {cell.name}", cell.source) for cell in cells]
    sources += [
        (f"imports of {step.name}", step.source)
        for step in steps
        if step.role is Role.SANDBOX and not step.is_ours and (step.is_own or step.exercise)
    ]
    wanted = [(name, text) for name, text in sources if IMPORT.search(text)]
    return [Step(-number, name, Role.SANDBOX, text, imports_only=True) for number, (name, text) in enumerate(wanted, 1)]


def bound_in(cells: Iterable[NotRunCell]) -> dict[str, NotRunCell]:
    """Return the first of the cells that binds each name."""
    found: dict[str, NotRunCell] = {}
    for cell in cells:
        try:
            names = names_bound(without_magics(cell.source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found = dict.fromkeys(names, cell) | found
    return found


def with_imports_of_tests(steps: list[Step], names: SourceNames) -> list[Step]:
    """Return the steps, and after each visible test a step for its imports that a cell below it may use.

    In one process, the cells below a test see what it imported. The imports of a hidden test must not be revealed.

    Args:
        steps: the steps of a submission.
        names: the names of its source.
    """
    if not any(names.tests.values()):
        return steps
    lowest = min(0, *(step.index for step in steps))
    found, words = list[Step](), set[str]()
    for step in reversed(steps):
        if step.role is not Role.TEST:
            words.update(re.findall(r"\w+", step.source))
        elif imports := [each for each in names.tests.get(step.name, ()) if not words.isdisjoint(each.names)]:
            lowest -= 1
            code = "\n".join(each.code for each in imports)
            found.append(Step(lowest, f"imports of {step.name}", Role.SANDBOX, code, is_ours=True, imports_only=True))
        found.append(step)
    return found[::-1]
