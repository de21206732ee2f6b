"""Grades one notebook without a gradebook, for a student who learns alone or an author who tries out a test.

file --read, repair, grade--> Report --scores and outputs in the cells--> exercises, as on a feedback page
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode, from_dict
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.exercises import HEADING, WAITING, PageExercise, anchor, exercises
from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.sources import read_source
from grader.classroom.submitted.helper_files import helper_files
from grader.classroom.submitted.matching import Matcher
from grader.engine.diagnosis.misconceptions import load
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.cells import CellType, explain, grade_id, type_of
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.repair import Repaired, repair
from grader.engine.report import Report
from grader.engine.supervisor.parsers import read_notebook
from grader.engine.view import ExerciseView, first_to_do, views, with_labels
from grader.errors import GraderError, UnreadableFile
from grader.files import Stamp, stamp
from grader.text import printable


@dataclass
class CheckedNotebook:
    """The report on a notebook, with the errors of answer cells that did not finish, by cell name.

    `notebook` is the repaired submission with scores and outputs in its cells, up to the last test that was run.
    `is_part` is true if only one exercise was checked. `left_out` has a sentence for each file beside the notebook that
    its code names and did not get, and `helpers` are those that it got, as they were read.
    """

    path: Path
    source_path: Path
    source: NotebookNode
    notebook: NotebookNode
    report: Report
    answer_errors: dict[str, str]
    is_part: bool
    left_out: list[str] = field(default_factory=list)
    helpers: dict[Path, Stamp | None] = field(default_factory=dict)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The labels of cells whose names nbgrader made up; the JSON form of the report keeps the names."""
        return Outline(self.source).labels

    @cached_property
    def exercises(self) -> list[ExerciseView]:
        """The exercises that were checked, in order; questions are left out."""
        return views(with_labels(self.report.results, self.labels))

    @property
    def first_to_do(self) -> ExerciseView | None:
        """The first exercise that is not right; None if all are."""
        return first_to_do(self.exercises)

    @property
    def unmarked(self) -> list[ExerciseView]:
        """The written answers, which a person marks; they belong to no exercise."""
        return [] if self.is_part else [each.view for each in self._on_page if each.view.state == WAITING]

    def heading(self, exercise: ExerciseView) -> str:
        """Return the heading above an exercise, or ''."""
        place = next(
            (
                each.heading_anchor
                for each in self._on_page
                if self.labels.get(each.name, each.name) == exercise.exercise
            ),
            "",
        )
        cells = (cell for cell in self.notebook.cells if anchor(cell) == place)
        return next((match[1] for cell in cells if (match := HEADING.search(cell.source))), "")

    @cached_property
    def _on_page(self) -> list[PageExercise]:
        return exercises(self.notebook)


def check(course_dir: CourseDir, path: Path, *, sandbox: bool = True, exercise: str = "") -> CheckedNotebook:
    """Grade a notebook by the source notebook of the same name.

    Args:
        course_dir: the course folder, with the sources.
        path: the file to grade.
        sandbox: whether the kernel confines the notebook's code.
        exercise: if not empty, the only exercise that is reported. The cells before it run with their tests, because
            our answers replace earlier ones that are wrong.

    Raises:
        GraderError: the source or exercise does not exist, or the notebook cannot be read.
        SandboxUnavailable: a sandbox is wanted and the kernel cannot confine.
    """
    if not path.is_file():
        raise GraderError(f"{path} {'is a folder' if path.is_dir() else 'does not exist'}: name one notebook")
    limits = Limits(config=course_dir.config)
    sources = _sources(course_dir)
    try:
        submission = read_notebook(path.resolve(), limits.notebook_mb)
    except UnreadableFile as error:
        if _named(sources, path) is None:
            raise _unknown(path) from None
        raise GraderError(error.to_student) from None
    source_path, source = source_of(sources, path, submission, limits.notebook_mb, course_dir.config)
    exercise = {label: name for name, label in Outline(source).labels.items()}.get(exercise, exercise)
    repaired, here = repair(source, submission), path.resolve()
    ours = assignment_files(source_path.parent, course_dir.directory.ignore, limits)
    files, left_out = helper_files(
        SubmissionFolder(here.parent, here.parent), [here.read_bytes()], limits, course_dir.helper_packages, ours
    )
    # At once: whoever saves a file during the check has it checked again.
    helpers = {here.parent / name: stamp(here.parent / name) for name in files}
    if exercise:
        repaired = _up_to(repaired, exercise, path)
    report = grade(
        source,
        repaired,
        limits,
        sandbox=sandbox,
        misconceptions=load(source_path.parent),
        helper_packages=course_dir.helper_packages,
        files=files,
        assignment_files=ours,
    )
    graded, errors = _graded(repaired.notebook, report), _answer_errors(repaired.notebook, report)
    if exercise:
        report = replace(report, results=[each for each in report.results if each.exercise == exercise])
    return CheckedNotebook(path, source_path, source, graded, report, errors, bool(exercise), left_out, helpers)


def _sources(course_dir: CourseDir) -> list[Path]:
    """Return the notebooks of all assignments, in order; raise GraderError if there are none."""
    folders = [course_dir.folder("source", assignment) for assignment in course_dir.assignments()]
    if not folders:
        raise GraderError(
            f"a notebook is graded by its source, and {course_dir.root} has none in source/: "
            "ask someone who has the sources to check it"
        )
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def source_of(
    sources: list[Path], path: Path, notebook: NotebookNode, max_mb: int, config: Config
) -> tuple[Path, NotebookNode]:
    """Return the path and the content of the source of a notebook, which its name or its cells identify.

    Args:
        sources: the notebooks of all assignments.
        path: the file.
        notebook: its content.
        max_mb: the largest size of a source, in MiB.
        config: the configuration of the course.

    Raises:
        GraderError: neither its name nor its cells belong to a source, or a source is broken.
    """
    named = _named(sources, path)
    if named:
        source = read_source(named, max_mb, config)
        known = {grade_id(cell) for cell in source.cells} - {None}
        if any(grade_id(cell) in known for cell in notebook.cells):
            return named, source
    # Only now, because reading all sources takes a moment.
    contents = {str(each): read_source(each, max_mb, config) for each in sources}
    found = Matcher(contents).by_cells(notebook) or (str(named) if named else "")
    if not found:
        raise _unknown(path)
    return Path(found), contents[found]


def _unknown(path: Path) -> GraderError:
    return GraderError(
        f"no notebook of an assignment in source/ is called {path.name} or has its cells: give it the name it was "
        "released with"
    )


def _named(sources: list[Path], path: Path) -> Path | None:
    """Return the source to which the name of a file refers, or None.

    If several assignments have a notebook of this name, the name of the notebook's own folder decides.
    """
    match = Matcher({each.stem: NotebookNode(cells=[]) for each in sources}).by_name(path.name)
    candidates = [each for each in sources if match and each.stem == match.notebook]
    own = [each for each in candidates if each.parent.name == path.resolve().parent.name]
    return next(iter(own or candidates), None)


def notebook_after(course_dir: CourseDir, source_path: Path) -> str:
    """Return the notebook that follows in the course, as "assignment/name"; '' after the last one."""
    course = _sources(course_dir)
    following = course[course.index(source_path) + 1 :]
    return "/".join(following[0].parts[-2:]) if following else ""


def _up_to(repaired: Repaired, exercise: str, path: Path) -> Repaired:
    """Return the notebook up to the last test of an exercise."""
    outline = Outline(repaired.notebook)
    if exercise not in outline.coded:
        known = ", ".join(outline.labels.get(name, name) for name in outline.coded)
        raise GraderError(f"{path.name} has no exercise {exercise!r}; it has {known}")
    own = outline.exercises[exercise]
    last = max(own.answer or 0, *own.tests, 0)
    return Repaired(
        NotebookNode(repaired.notebook, cells=repaired.notebook.cells[: last + 1]), repaired.changes, repaired.not_run
    )


def _graded(repaired: NotebookNode, report: Report) -> NotebookNode:
    """Return a copy with scores and outputs in it, as in an autograded notebook."""
    results = {result.name: result for result in report.results}
    cells = []
    for index, repaired_cell in enumerate(repaired.cells):
        cell = NotebookNode(repaired_cell)
        if type_of(cell) is CellType.TEST:
            result = results.get(grade_id(cell) or "")
            marks = NotebookNode(cell.metadata.nbgrader, score=result.points if result else 0.0)
            cell.metadata = NotebookNode(cell.metadata, nbgrader=marks)
            explain(cell, result.explanation if result else None)
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in report.outputs.get(index, [])]
        cells.append(cell)
    return NotebookNode(repaired, cells=cells)


def _answer_errors(notebook: NotebookNode, report: Report) -> dict[str, str]:
    return {
        name: printable("; ".join(output["traceback"]))
        for index, outputs in report.outputs.items()
        for output in outputs
        if type_of(notebook.cells[index]) is CellType.AUTOGRADED_ANSWER
        and output["output_type"] == "error"
        and (name := grade_id(notebook.cells[index])) is not None
    }
