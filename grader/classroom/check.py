"""Grades one notebook without a gradebook, for a student who learns alone or an author who tries out a test."""

from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Group
from rich.table import Table
from rich.text import Text

from grader.classroom.course_dir import CourseDir
from grader.diagnosis.misconceptions import load
from grader.errors import GraderError, UnreadableFile
from grader.grading import grade
from grader.limits import Limits
from grader.notebook.cells import CellType, grade_id, type_of
from grader.notebook.files import read_source
from grader.notebook.repair import repair
from grader.report import Report, Verdict
from grader.supervisor.readers import read_notebook
from grader.text import printable


@dataclass
class CheckedNotebook:
    """The report on a notebook, and the errors that stopped answer cells, by the names of the cells."""

    report: Report
    answer_errors: dict[str, str]


def check(course_dir: CourseDir, notebook: Path, *, sandbox: bool = True) -> CheckedNotebook:
    """Grade a notebook by the source notebook of the same name.

    Args:
        course_dir: the course folder, with the sources.
        notebook: the file to grade.
        sandbox: whether the kernel confines the notebook's code.

    Raises:
        GraderError: there is no such source, or the notebook cannot be read.
        SandboxUnavailable: a sandbox is wanted and the kernel cannot confine.
    """
    if not notebook.is_file():
        raise GraderError(f"{notebook} {'is a folder' if notebook.is_dir() else 'does not exist'}: name one notebook")
    limits = Limits(config=course_dir.config)
    folders = [course_dir.folder("source", assignment) for assignment in course_dir.assignments()]
    if not folders:
        raise GraderError(
            f"a notebook is graded by its source, and {course_dir.root} has none in source/: "
            "ask someone who has the sources to check it"
        )
    candidates = [folder for folder in folders if (folder / notebook.name).exists()]
    if not candidates:
        raise GraderError(
            f"no notebook of an assignment in source/ is called {notebook.name}: give it the name it was released with"
        )
    # If several assignments have a notebook of this name, the name of the notebook's own folder decides.
    folder = next((path for path in candidates if path.name == notebook.resolve().parent.name), candidates[0])
    source = read_source(folder / notebook.name, limits.notebook_mb)
    try:
        submission = read_notebook(notebook.resolve(), limits.notebook_mb)
    except UnreadableFile as error:
        raise GraderError(f"{error.why}: save it once more in JupyterLab") from None
    repaired = repair(source, submission)
    report = grade(
        source,
        repaired,
        limits,
        sandbox=sandbox,
        misconceptions=load(folder),
        helper_packages=course_dir.helper_packages,
    )
    return CheckedNotebook(report, _answer_errors(repaired.notebook, report))


def _answer_errors(notebook: NotebookNode, report: Report) -> dict[str, str]:
    return {
        name: printable("; ".join(output["traceback"]))
        for index, outputs in report.outputs.items()
        for output in outputs
        if type_of(notebook.cells[index]) is CellType.AUTOGRADED_ANSWER
        and output["output_type"] == "error"
        and (name := grade_id(notebook.cells[index])) is not None
    }


def summary(checked_notebook: CheckedNotebook) -> Group:
    """Return a table with a row for each test, then the points, the answers that stopped, and the repairs."""
    report, table = checked_notebook.report, Table(box=None, pad_edge=False)
    table.add_column("test", overflow="fold")
    table.add_column("points", justify="right", overflow="fold")
    table.add_column("", overflow="fold")
    for result in report.results:
        message = result.message if result.verdict is Verdict.PASSED else f"{result.verdict}: {result.message}"
        table.add_row(result.name, f"{result.points:g} / {result.max_points:g}", Text(message))
    total = Text(f"\n{report.points:g} of {report.max_points:g} points from tests")
    stops = (Text(f"stopped before its end: {name}: {error}") for name, error in checked_notebook.answer_errors.items())
    return Group(table, total, *stops, *(Text(f"repaired: {change}") for change in report.repairs))
