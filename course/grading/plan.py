"""Which cell of a notebook runs where, in which order."""

from dataclasses import dataclass
from enum import Enum

from nbformat import NotebookNode

from course.grading.notebook import HIDDEN, Kind, exercise_of, grade_id, is_experiment, kind


class Role(Enum):
    """Who runs a cell."""

    CANDIDATE = "candidate"
    BOTH = "both"
    TEST = "test"


@dataclass(frozen=True)
class Step:
    """One code cell to run. `exercise` is the answer cell that it is or tests, '' for the student's own cells."""

    index: int
    name: str
    role: Role
    source: str
    exercise: str = ""
    points: float = 0.0
    is_hidden: bool = False


def plan(notebook: NotebookNode) -> list[Step]:
    """The steps of a repaired notebook: all its code cells but the experiments, in their order."""
    exercises = [name for cell in notebook.cells if kind(cell) is Kind.ANSWER and (name := grade_id(cell))]
    steps = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or is_experiment(cell):
            continue
        name = grade_id(cell) or f"cell {index + 1}"
        match kind(cell):
            case Kind.TEST:
                points = float(cell.metadata.nbgrader.points)
                exercise = exercise_of(name, exercises)
                steps.append(Step(index, name, Role.TEST, cell.source, exercise, points, HIDDEN in cell.source))
            case Kind.READ_ONLY:
                steps.append(Step(index, name, Role.BOTH, cell.source))
            case Kind.ANSWER | Kind.WRITTEN:
                steps.append(Step(index, name, Role.CANDIDATE, cell.source, name))
            case Kind.FREE:
                steps.append(Step(index, name, Role.CANDIDATE, cell.source))
    return steps
