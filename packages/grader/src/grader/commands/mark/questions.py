"""Reads what a person marks in an assignment: written answers, code that is marked by hand, tasks, and tests.

    source/ASSIGNMENT/NOTEBOOK.ipynb --> Question: text, marking scheme, our answer, where the student's answer is

A test is in the list because a person may set its points; it is shown only where one did, or where it waits.
"""

import re
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearMarkScheme, ClearSolutions
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import CellName
from grader.classroom.source.sources import read_sources
from grader.commands.mark.scheme import ReusableComment, comments_of
from grader.engine.limits import Limits
from grader.engine.notebook.cells import CellType, grade_id
from grader.engine.notebook.outline import Outline

MAX_CELLS_ABOVE = 4
"""How many text cells above an answer may belong to its question."""
HEADING = re.compile(r"\s*#{1,6}\s")


@dataclass(frozen=True)
class Question:
    """A cell that a person can mark.

    Args:
        notebook: the notebook's name.
        cell: the grade_id of the cell with the points.
        kind: a written answer, a task, or a test.
        label: the name to show.
        prompt: the text above the answer, in Markdown, without the marking scheme.
        scheme: the marking scheme, in Markdown; '' if there is none.
        ours: our answer, or the source of a test; '' for a task.
        is_code: whether that is code.
        answers: the grade_ids of the cells with the student's answer; for a task, '' stands for all cells of their own.
        comment_on: the grade_id of the cell with the comment; '' if the gradebook has no place for one.
        suggested: comments that the marking scheme suggests.
    """

    notebook: str
    cell: str
    kind: CellType
    label: str
    prompt: str
    scheme: str
    ours: str
    is_code: bool
    answers: tuple[str, ...]
    comment_on: str
    suggested: tuple[ReusableComment, ...]

    @property
    def name(self) -> CellName:
        """The names of the notebook and the cell."""
        return self.notebook, self.cell


@dataclass(frozen=True)
class SourceQuestions:
    """The questions of an assignment in order, and the texts of each notebook that students did not write."""

    questions: dict[CellName, Question]
    ours: dict[str, frozenset[str]]


def read_questions(course_dir: CourseDir, assignment: str) -> SourceQuestions:
    """Return the cells of an assignment that a person can mark.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, or a notebook is broken.
    """
    folder = course_dir.require(assignment)
    sources = read_sources(folder, Limits(config=course_dir.config).notebook_mb, course_dir.config)
    questions: dict[CellName, Question] = {}
    for name, source in sources.items():
        questions |= {each.name: each for each in questions_in(name, source, course_dir.config)}
    ours = {
        name: frozenset(cell.source.strip() for cell in source.cells if grade_id(cell) is None)
        for name, source in sources.items()
    }
    return SourceQuestions(questions, ours)


def questions_in(name: str, source: NotebookNode, config: Config) -> list[Question]:
    """Return the cells of a notebook that a person can mark, in order.

    Args:
        name: the notebook's name.
        source: the instructors' notebook.
        config: the configuration of the course, which may change nbgrader's marks in a cell.
    """
    outline, markers = Outline(source), _Markers(config)
    found = []
    for number, (cell, kind, own) in enumerate(zip(source.cells, outline.types, outline.names, strict=True)):
        if kind not in (CellType.MANUAL_ANSWER, CellType.TASK, CellType.TEST):
            continue
        answer, comment_on = number, own
        answers: tuple[str, ...] = (own,)
        if kind is CellType.TASK:
            answers = ("",)
        elif kind is CellType.TEST:
            exercise = outline.exercises[outline.exercise_at[number]]
            answer = number if exercise.answer is None else exercise.answer
            comment_on = "" if exercise.answer is None else exercise.name
            answers = (exercise.name,) if comment_on else ()
        above = [] if kind is CellType.TASK else _above(outline, answer)
        texts = [each.source for each in above] + ([cell.source] if kind is CellType.TASK else [])
        scheme = "\n\n".join(filter(None, map(markers.scheme, texts)))
        found.append(
            Question(
                name, own, kind, outline.labels.get(own, own),
                "\n\n".join(map(markers.without_scheme, texts)), scheme,
                "" if kind is CellType.TASK else markers.without_markers(cell.source), cell.cell_type == "code",
                answers, comment_on, tuple(comments_of(scheme)),
            )
        )  # fmt: skip
    return found


def _above(outline: Outline, answer: int) -> list[NotebookNode]:
    """Return the text cells directly above an answer, up to a heading."""
    found: list[NotebookNode] = []
    for number in range(answer - 1, max(-1, answer - 1 - MAX_CELLS_ABOVE), -1):
        cell = outline.notebook.cells[number]
        if cell.cell_type != "markdown" or outline.types[number] not in (CellType.READ_ONLY, CellType.UNMARKED):
            break
        found.insert(0, cell)
        if HEADING.match(cell.source):
            break
    return found


class _Markers:
    """nbgrader's markers of marking schemes and solutions, which a course may change."""

    def __init__(self, config: Config) -> None:
        scheme, solution = ClearMarkScheme(config=config), ClearSolutions(config=config)
        self._begin, self._end = scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter
        self._solution = solution.begin_solution_delimeter, solution.end_solution_delimeter

    def scheme(self, text: str) -> str:
        """Return the marking scheme in the text of a cell, or ''."""
        return "\n".join(line for line, is_scheme in self._lines(text) if is_scheme).strip()

    def without_scheme(self, text: str) -> str:
        """Return the text of a cell without its marking scheme."""
        return "\n".join(line for line, is_scheme in self._lines(text) if not is_scheme).strip()

    def without_markers(self, text: str) -> str:
        """Return an answer of ours without the marks around the solution."""
        return "\n".join(line for line in text.splitlines() if not any(each in line for each in self._solution))

    def _lines(self, text: str) -> list[tuple[str, bool]]:
        """Return the lines of a text, and whether each is inside of a marking scheme."""
        lines, inside = [], False
        for line in text.splitlines():
            if self._begin in line:
                inside = True
            elif self._end in line:
                inside = False
            else:
                lines.append((line, inside))
        return lines
