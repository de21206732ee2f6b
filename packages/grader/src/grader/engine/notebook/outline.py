"""Reads the structure of a notebook once: the type of each cell, and the exercises with their answers and tests.

notebook --> Outline: types, names, exercises --alone, with_answer--> notebooks to grade one exercise by
"""

import ast
import copy
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from grader.engine.notebook.cells import CellType, forbidden_words, grade_id, label_of, owner_of, type_of
from grader.engine.notebook.magics import NOT_PYTHON, as_python
from grader.engine.notebook.names import names_assigned, names_bound, names_used
from grader.engine.notebook.source_names import imports_in
from grader.engine.view import MADE_UP

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

    def __init__(self, notebook: "NotebookNode", source: "NotebookNode | None" = None) -> None:
        """Read the structure of a notebook.

        Args:
            notebook: the notebook.
            source: its source. If given, tests belong to the answers as they do there, whatever a student wrote.
        """
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
        owners = _Owners(notebook if source is None else source)
        for number, (name, kind) in enumerate(cells):
            if kind not in (CellType.UNMARKED, CellType.READ_ONLY):
                own = owners.of(name) if kind is CellType.TEST else name
                self._add(number, self.exercises.setdefault(own, Exercise(own)))

    @property
    def coded(self) -> list[str]:
        """The exercises that are answered in code, in order."""
        answered = [each for each in self.exercises.values() if each.answer is not None and not each.is_question]
        return [each.name for each in sorted(answered, key=lambda each: each.answer or 0)]

    @cached_property
    def labels(self) -> dict[str, str]:
        """The labels of cells whose names nbgrader made up (`cell-` and 16 digits), by these names.

        An answer is called by the first function or class that our solution defines, and a test by its answer.
        """
        labels = dict[str, str]()
        for place, known in enumerate(self.exercises.values(), 1):
            cell = None if known.answer is None else self.notebook.cells[known.answer]
            label = known.name
            if cell is not None and MADE_UP.fullmatch(known.name):
                label = label_of(cell) or (defined_first(cell.source) if cell.cell_type == "code" else "")
                label = label or f"{'answer' if known.is_question else 'exercise'}-{place}"
                label = f"{label}-{place}" if label in labels.values() else label
                labels[known.name] = label
            for number, test in enumerate(known.tests, 1):
                if MADE_UP.fullmatch(self.names[test]):
                    labels[self.names[test]] = f"test-{place}" if cell is None else f"{label} test {number}"
        return labels

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
        the imports stay, which answers and tests may need; another test stays as a read-only cell if it defines what
        a test of the exercise needs.
        """
        own, answer = self.exercises[exercise].tests, self.exercises[exercise].answer or 0
        needed = self._missing(own)
        cut = copy.copy(self.notebook)
        cut.cells = []
        for number, cell in enumerate(self.notebook.cells[: max([*own, answer]) + 1]):
            if number in own or self.types[number] in (CellType.READ_ONLY, CellType.AUTOGRADED_ANSWER):
                cut.cells.append(cell)
            elif cell.cell_type == "code" and self.types[number] is CellType.UNMARKED:
                imports = [each.code for each in imports_in(cell.source)]
                cut.cells += [type(cell)(cell, source="\n".join(imports))] if imports else []
            elif self.types[number] is CellType.TEST and needed & set(_named(names_assigned, cell.source)):
                marks = type(cell)(cell.metadata["nbgrader"], grade=False, locked=True)
                cut.cells.append(type(cell)(cell, metadata=type(cell)(cell.metadata, nbgrader=marks)))
        return cut

    def _missing(self, tests: list[int]) -> set[str]:
        """Return the names that tests use, and neither they nor the cells that are no tests bind."""
        cells = [(number, cell.source) for number, cell in enumerate(self.notebook.cells) if cell.cell_type == "code"]
        used = set().union(*(_named(names_used, source) for number, source in cells if number in tests))
        for number, source in cells:
            if used and (number in tests or self.types[number] is not CellType.TEST):
                used -= set(_named(names_bound, source))
        return used

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


class _Owners:
    """The answers to which the tests of a notebook belong, which its author alone decides.

    By the names of the cells, `x-check` and `x-test-what` belong to `x`. Where they say nothing, a test belongs to the
    last answer above it that binds a name that the test uses, else to the first such answer below, else to the nearest
    answer above.
    """

    def __init__(self, source: "NotebookNode") -> None:
        self._cells = source.cells
        self._numbers = {name: number for number, cell in enumerate(source.cells) if (name := grade_id(cell))}
        self._answers = {
            number: str(grade_id(cell))
            for number, cell in enumerate(source.cells)
            if type_of(cell) is CellType.AUTOGRADED_ANSWER
        }

    def of(self, test: str) -> str:
        """Return the answer to which a test belongs, or the test itself if there is none."""
        answers = self._answers.values()
        named = [answer for answer in answers if is_named_after(test, answer)]
        if named or test not in self._numbers:
            return max(named, key=len, default=test)
        place = self._numbers[test]
        if (kept := owner_of(self._cells[place])) in (*answers, test):
            return kept
        used = set(_named(names_used, self._cells[place].source))
        users = [number for number, names in self._binds.items() if used & names]
        above = [number for number in users if number < place]
        nearest = [number for number in self._binds if number < place]
        chosen = next((found[0] for found in (above[-1:], users[:1], nearest[-1:]) if found), None)
        return test if chosen is None else self._answers[chosen]

    @cached_property
    def _binds(self) -> dict[int, set[str]]:
        """The names that each answer in code binds, but not by an import: that says nothing about the exercise."""
        cells = self._cells
        return {
            number: set(_named(names_assigned, cells[number].source))
            for number in self._answers
            if cells[number].cell_type == "code"
        }


def defined_first(source: str) -> str:
    """Return the first function or class that an answer defines, else the first name that it binds, or ''."""
    try:
        body = ast.parse(as_python(source)).body
    except NOT_PYTHON:
        return ""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [each.name for each in body if isinstance(each, kinds)]
    targets = [each.targets[0] for each in body if isinstance(each, ast.Assign)]
    names += [each.id for each in targets if isinstance(each, ast.Name)]
    return next(iter(names), "")


def is_named_after(test: str, answer: str) -> bool:
    """Return whether the name of a test says that it belongs to an answer."""
    return test.startswith((f"{answer}-check", f"{answer}-test-"))


def _named(find: Callable[[str], Collection[str]], source: str) -> Collection[str]:
    try:
        return find(as_python(source))
    except NOT_PYTHON:
        return ()
