"""Reads the structure of a notebook once: the type of each cell, and the exercises with their answers and tests.

notebook --> Outline: types, names, exercises --alone, with_answer--> notebooks to grade one exercise by
"""

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.engine.notebook.cells import CellType, forbidden_words, grade_id, type_of
from grader.engine.notebook.source_names import imports_in

if TYPE_CHECKING:
    from nbformat import NotebookNode

GRADED = (CellType.TEST, CellType.MANUAL_ANSWER, CellType.TASK)
"""Cells that give points."""


@dataclass
class Exercise:
    """An exercise, or a question or task that a person marks.

    Args:
        name: the grade_id of its answer, or of a test without an answer.
        answer: the number of its answer, or of the task, among the cells; None if there is none.
        tests: the numbers of its tests.
        is_question: whether a person marks it.
        forbidden: words in the names of library functions that would do its work; see `grader_kernel.without`.
    """

    name: str
    answer: int | None = None
    tests: list[int] = field(default_factory=list)
    is_question: bool = False
    forbidden: tuple[str, ...] = ()


class Outline:
    """The structure of a source, repaired or autograded notebook, which must not change while this is in use."""

    def __init__(self, notebook: "NotebookNode") -> None:
        self.notebook = notebook
        self.types = [type_of(cell) for cell in notebook.cells]
        """The type of each cell."""
        self.names = [grade_id(cell) or "" for cell in notebook.cells]
        """The grade_id of each cell; '' if nbgrader does not know it."""
        self.exercise_at = [""] * len(self.names)
        """The exercise to which each answer and each test belongs; '' for other cells."""
        self.exercises: dict[str, Exercise] = {}
        """The exercises and questions by name, in the order of their first cells."""
        cells = list(zip(self.names, self.types, strict=True))
        answers = [name for name, kind in cells if kind is CellType.AUTOGRADED_ANSWER]
        for number, (name, kind) in enumerate(cells):
            if kind not in (CellType.UNMARKED, CellType.READ_ONLY):
                own = _exercise_of(name, answers) if kind is CellType.TEST else name
                self._add(number, self.exercises.setdefault(own, Exercise(own)))

    @property
    def coded(self) -> list[str]:
        """The exercises that are answered in code, in order."""
        answered = [each for each in self.exercises.values() if each.answer is not None and not each.is_question]
        return [each.name for each in sorted(answered, key=lambda each: each.answer or 0)]

    def reference(self, exercise: str) -> str:
        """Return the answer to an exercise, which in a source is the reference solution."""
        return str(self.notebook.cells[self.names.index(exercise)].source)

    def scored_tests(self, exercise: str) -> list[str]:
        """Return the tests of an exercise that give points, in order: its visible checks and its hidden tests."""
        cells = self.notebook.cells
        tests = self.exercises[exercise].tests
        return [self.names[number] for number in tests if cells[number].metadata.nbgrader.points]

    def max_points(self, exercise: str) -> float:
        """Return the points that the tests of an exercise, or the person who marks it, can give."""
        known = self.exercises[exercise]
        graded = [known.answer, *known.tests] if known.is_question else known.tests
        return sum((self.notebook.cells[number].metadata.nbgrader.get("points") or 0.0 for number in graded), 0.0)

    def alone(self, exercise: str) -> "NotebookNode":
        """Return the notebook up to the last test of an exercise, without other tests and without worked examples.

        A wrong answer must be found by the tests of its own exercise. The cells are not copies. Of unmarked cells only
        the imports stay, which answers and tests may need.
        """
        own = self.exercises[exercise].tests
        cut = copy.copy(self.notebook)
        cut.cells = []
        for number, cell in enumerate(self.notebook.cells[: max(own, default=-1) + 1]):
            if number in own or self.types[number] in (CellType.READ_ONLY, CellType.AUTOGRADED_ANSWER):
                cut.cells.append(cell)
            elif cell.cell_type == "code" and self.types[number] is CellType.UNMARKED:
                imports = [each.code for each in imports_in(cell.source)]
                cut.cells += [type(cell)(cell, source="\n".join(imports))] if imports else []
        return cut

    def with_answer(self, exercise: str, answer: str) -> "NotebookNode":
        """Return the notebook with a different answer to an exercise; it shares all other cells with the original."""
        changed = copy.copy(self.notebook)
        changed.cells = list(self.notebook.cells)
        number = self.names.index(exercise)
        changed.cells[number] = type(changed.cells[number])(changed.cells[number], source=answer)
        return changed

    def _add(self, number: int, exercise: Exercise) -> None:
        cell, kind = self.notebook.cells[number], self.types[number]
        self.exercise_at[number] = exercise.name
        if kind is CellType.TEST:
            exercise.tests.append(number)
            return
        exercise.answer, exercise.is_question = number, kind is not CellType.AUTOGRADED_ANSWER
        exercise.forbidden = forbidden_words(cell) if kind is CellType.AUTOGRADED_ANSWER else ()


def _exercise_of(test: str, answers: list[str]) -> str:
    """Return the answer that a test belongs to (`x-check` and `x-test-what` to `x`), or the test if there is none."""
    owners = [answer for answer in answers if test.startswith((f"{answer}-check", f"{answer}-test-"))]
    return max(owners, key=len, default=test)
