"""Makes the students' notebooks in release/ and the gradebook's entries from the instructors' notebooks in source/."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, Notebook
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor, SaveCells
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir, place_of, reason_of
from grader.classroom.source.sources import read_sources
from grader.classroom.submitted.choice import Chooser
from grader.engine.limits import Limits
from grader.engine.notebook.cells import LABEL, OWNER, CellType, grade_id, type_of
from grader.engine.notebook.outline import Outline, is_named_after
from grader.errors import GraderError
from grader.files import locked
from grader_kernel.contract import has_code, released_test

START, TUTOR = "start.ipynb", "AGENTS.md"

Types = Mapping[str, CellType | None]
"""Types of cells by grade_id, or notebooks, which have no type, by file name."""


class KeepExercises(NbGraderPreprocessor):
    """Keeps in the metadata of cells what our solutions say about exercises, before nbgrader clears these.

    Tests whose names do not say it keep the exercise that they belong to, and answers without a name their label.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Add to the metadata of a notebook.

        Args:
            nb: the notebook, which is changed.
            resources: what nbconvert's preprocessors share.
        """
        outline = Outline(nb)
        for number, cell in enumerate(nb.cells):
            name, owner = outline.names[number], outline.exercise_at[number]
            if outline.types[number] is CellType.TEST and not is_named_after(name, owner):
                cell.metadata[OWNER] = owner
            elif name == owner and name in outline.labels:
                cell.metadata[LABEL] = outline.labels[name]
        return nb, resources


class PrepareForStudents(NbGraderPreprocessor):
    """Names the exercise in each released test, and lets "Run All" continue below a blank.

    It follows ClearHiddenTests, after which a hidden test holds only comments, and precedes the last ComputeChecksums.
    The gradebook, from which nbgrader restores tests, keeps the cells of the source.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Prepare a notebook.

        Args:
            nb: the notebook, which is changed.
            resources: what nbconvert's preprocessors share.
        """
        outline = Outline(nb)
        is_below_blank = False
        for number, cell in enumerate(nb.cells):
            kind = outline.types[number]
            is_below_blank |= kind is CellType.AUTOGRADED_ANSWER
            if cell.cell_type != "code" or kind not in (CellType.TEST, CellType.UNMARKED):
                continue
            if kind is CellType.TEST:
                exercise = outline.exercise_at[number]
                cell.source = released_test(outline.labels.get(exercise, exercise), cell.source)
            if is_below_blank and has_code(cell.source):
                # JupyterLab and nbclient run what is below, and a check that fails still counts as failed.
                cell.metadata["tags"] = sorted({*cell.metadata.get("tags", ()), "raises-exception"})
        return nb, resources


class CellGuard(SaveCells):
    """Runs before nbgrader's SaveCells, and raises GraderError where that would refuse; disabled together with it.

    Once students are graded, their cells must stay. nbgrader's error neither names them nor suggests a remedy.
    """

    def preprocess(self, notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return both arguments unchanged.

        Args:
            notebook: a source notebook that is being released or registered.
            resources: nbconvert's resources, with nbgrader's names of the notebook and its assignment.

        Raises:
            GraderError: the notebook was graded, and its nbgrader cells differ from those in the gradebook.
        """
        names = resources["nbgrader"]
        with suppress(MissingEntry), Gradebook(names["db_url"]) as gradebook:
            _require_same_cells(gradebook.find_notebook(names["notebook"], names["assignment"]), notebook)
        return notebook, resources


def release(course_dir: CourseDir, assignment: str) -> None:
    """Write release/ASSIGNMENT from source/ASSIGNMENT, without solutions, hidden tests and marking schemes.

    An earlier release stays if the source cannot be released.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, or its source is broken or refused by nbgrader.
    """
    read_sources(course_dir.require(assignment), Limits(config=course_dir.config).notebook_mb, course_dir.config)
    changes = Config(SaveCells={"enabled": False}, GenerateAssignment={"no_database": True})
    released = course_dir.folder("release", assignment)
    released.parent.mkdir(parents=True, exist_ok=True)
    # nbgrader removes what is there before it looks at the source.
    with _preparing(assignment), tempfile.TemporaryDirectory(prefix=".", dir=released.parent) as folder:
        course_dir.run(GenerateAssignment, changes, assignment_id=assignment, release_directory=folder)
        made = Path(course_dir.directory.format_path(folder, ".", assignment))
        if released.exists():
            released.rename(Path(folder) / "before")
        made.rename(released)


def release_common(course_dir: CourseDir) -> None:
    """Copy what belongs to no assignment from source/ to release/, as far as the course has it.

    start.ipynb leads through all assignments and is copied without its outputs. AGENTS.md tells a programming
    assistant how to help a student.
    """
    start, tutor = (course_dir.folder("source", name) for name in (START, TUTOR))
    course_dir.folder("release", START).parent.mkdir(parents=True, exist_ok=True)
    if start.exists():
        notebook, _ = ClearOutputPreprocessor().preprocess(nbformat.read(start, as_version=4), {})
        nbformat.write(notebook, course_dir.folder("release", START))
    if tutor.exists():
        shutil.copyfile(tutor, course_dir.folder("release", TUTOR))


def register(course_dir: CourseDir, assignment: str) -> None:
    """Record the notebooks, cells and points of source/ASSIGNMENT in the gradebook, and leave release/ as it is.

    Args:
        course_dir: the course folder; its gradebook is created if missing.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, nbgrader refuses its source, the source lacks or adds cells although
            students were graded, or the gradebook cannot be written.
    """
    source = course_dir.require(assignment).resolve()
    # Two processes that fill a new gradebook at once would both create its cells.
    with locked(source, os.O_DIRECTORY, wait=True), tempfile.TemporaryDirectory() as discarded:
        course_dir.make_gradebook()
        with _preparing(assignment):
            _require_same_notebooks(course_dir, assignment)
            course_dir.run(GenerateAssignment, Config(), assignment_id=assignment, release_directory=discarded)


def require_same_structure(course_dir: CourseDir, assignment: str, sources: Mapping[str, NotebookNode]) -> None:
    """Refuse a source that `register` would refuse, because it lacks or adds notebooks or cells that were graded.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        sources: the instructors' notebooks, by name.

    Raises:
        GraderError: the source is not that of the gradebook's cells, or the gradebook cannot be read.
    """
    with _preparing(assignment):
        _require_same_notebooks(course_dir, assignment)
        with course_dir.gradebook() as gradebook:
            for name, source in sources.items():
                with suppress(MissingEntry):
                    _require_same_cells(gradebook.find_notebook(name, assignment), source)


def chooser_of(sources: Mapping[str, NotebookNode], config: Config) -> Chooser:
    """Return what chooses among the files of a submission, which tells answers from released blanks.

    Args:
        sources: the instructors' notebooks, by name.
        config: the configuration of the course.

    Raises:
        GraderError: nbgrader cannot find the solutions.
    """
    released = {}
    for name, source in sources.items():
        try:
            released[name] = _without_solutions(source, config)
        except (RuntimeError, ValueError) as error:
            raise GraderError(
                f"cannot prepare a notebook from source/: {name}.ipynb, {place_of(error)}{reason_of(error)}: correct "
                "this cell"
            ) from error
    return Chooser(sources, released)


def _without_solutions(source: NotebookNode, config: Config) -> NotebookNode:
    """Return the answer cells of a notebook as nbgrader releases them, and nothing else."""
    answers = [cell for cell in source.cells if type_of(cell) in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)]
    notebook = NotebookNode(source, metadata=deepcopy(source.metadata), cells=deepcopy(answers))
    released: NotebookNode = ClearSolutions(config=config).preprocess(notebook, {})[0]
    return released


@contextmanager
def _preparing(assignment: str) -> Iterator[None]:
    """Add the assignment to a GraderError that the block raises."""
    try:
        yield
    except GraderError as error:
        raise GraderError(f"cannot prepare '{assignment}' from source/: {error}") from error


def _require_same_notebooks(course_dir: CourseDir, assignment: str) -> None:
    with course_dir.gradebook() as gradebook, suppress(MissingEntry):
        entry = gradebook.find_assignment(assignment)
        if entry.num_submissions and entry.notebooks:
            before = dict.fromkeys(f"{notebook.name}.ipynb" for notebook in entry.notebooks)
            now = dict.fromkeys(path.name for path in course_dir.folder("source", assignment).glob("*.ipynb"))
            _require_unchanged(assignment, "it must keep its notebooks", before, now)


def _require_same_cells(entry: Notebook, notebook: NotebookNode) -> None:
    """Raise GraderError if a notebook was graded and its nbgrader cells differ from those in the gradebook."""
    if entry.num_submissions:
        types = ((grade_id(cell), type_of(cell)) for cell in notebook.cells)
        now = {name: cell_type for name, cell_type in types if name and cell_type is not CellType.UNMARKED}
        rule = f"{entry.name}.ipynb must keep its graded, read-only and answer cells"
        hint = " (a new test can go into an existing test cell)"
        _require_unchanged(entry.assignment.name, rule, _registered_types(entry), now, hint)


def _registered_types(entry: Notebook) -> dict[str, CellType]:
    """Return the type of each cell in the gradebook's entry of a notebook, by grade_id."""
    kinds = (entry.grade_cells, entry.solution_cells, entry.task_cells)
    graded, answers, tasks = ({cell.name for cell in cells} for cells in kinds)
    return dict.fromkeys((cell.name for cell in entry.source_cells), CellType.READ_ONLY) | (
        dict.fromkeys(graded, CellType.TEST)
        | dict.fromkeys(answers, CellType.AUTOGRADED_ANSWER)
        | dict.fromkeys(graded & answers, CellType.MANUAL_ANSWER)
        | dict.fromkeys(tasks, CellType.TASK)
    )


def _require_unchanged(assignment: str, rule: str, before: Types, now: Types, hint: str = "") -> None:
    """Raise GraderError with the rule, all changes and a hint if notebooks or cells have changed."""
    changes = {
        "added": now.keys() - before.keys(),
        "removed": before.keys() - now.keys(),
        "given another type": {name for name in now.keys() & before.keys() if now[name] is not before[name]},
    }
    described = ", ".join(
        f"{' and '.join(sorted(names))} {'was' if len(names) == 1 else 'were'} {change}"
        for change, names in changes.items()
        if names
    )
    if described:
        raise GraderError(
            f"{rule}, because submissions of it were graded, and {described}: undo this change{hint}, or remove the "
            f"assignment from the gradebook with 'nbgrader db assignment remove {assignment} --force' and grade all "
            "students again (this deletes all grades, manual marks and the due date)"
        )
