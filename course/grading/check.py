"""One notebook graded on its own, with no gradebook: for who learns alone, and for who tinkers."""

from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Group
from rich.table import Table
from rich.text import Text

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.grade import grade
from course.grading.handed_in import Unreadable
from course.grading.limits import Limits
from course.grading.notebook import Kind, grade_id, kind
from course.grading.repair import read, repair
from course.grading.report import Report, Verdict
from course.grading.sources import read_source
from course.grading.text import printable
from course.misconceptions import load


@dataclass
class Checked:
    """The report on a notebook, and why answer cells stopped before their end, by name."""

    report: Report
    stopped: dict[str, str]


def check(classroom: Classroom, notebook: Path, *, sandbox: bool = True) -> Checked:
    """What there is to say of `notebook`, which is judged by the source notebook of the same name.

    Raises CourseError where there is no such source, or the notebook cannot be read.
    """
    if not notebook.is_file():
        raise CourseError(f"{notebook} is {'a folder' if notebook.is_dir() else 'not there'}: name one notebook")
    limits = Limits(config=classroom.config)
    assignments = [classroom.folder("source", assignment) for assignment in classroom.assignments()]
    if not assignments:
        raise CourseError(f"a notebook is judged by its source, and {classroom.root} has none in source/: ask who has")
    found = [path for path in assignments if (path / notebook.name).exists()]
    if not found:
        raise CourseError(
            f"no notebook of an assignment in source/ is called {notebook.name}: give it the name it was released with"
        )
    # Where assignments share a name, the folder that the notebook lies in decides.
    source = next((path for path in found if path.name == notebook.resolve().parent.name), found[0])
    ours = read_source(source / notebook.name, limits.notebook_mb)
    try:
        theirs = read(notebook.resolve(), limits.notebook_mb)
    except Unreadable as error:
        raise CourseError(f"{error.why}: save it once more in JupyterLab") from None
    repaired = repair(ours, theirs)
    report = grade(ours, repaired, limits, sandbox=sandbox, misconceptions=load(source))
    return Checked(report, _stopped(repaired.notebook, report))


def _stopped(notebook: NotebookNode, report: Report) -> dict[str, str]:
    return {
        grade_id(notebook.cells[index]): printable("; ".join(output["traceback"]))
        for index, outputs in report.outputs.items()
        for output in outputs
        if kind(notebook.cells[index]) is Kind.ANSWER and output["output_type"] == "error"
    }


def shown(checked: Checked) -> Group:
    """A row a test with what it found, then the points, which answers stopped, and what was put right beforehand."""
    report, table = checked.report, Table(box=None, pad_edge=False)
    for name, justify in (("test", "left"), ("points", "right"), ("", "left")):
        table.add_column(name, justify=justify, overflow="fold")
    for result in report.results:
        words = "" if result.verdict is Verdict.PASSED else f"{result.verdict}: {result.message}"
        table.add_row(result.name, f"{result.points:g} / {result.max_points:g}", Text(words))
    total = Text(f"\n{report.points:g} of {report.max_points:g} points from tests")
    stops = (Text(f"stopped before its end: {name}: {why}") for name, why in checked.stopped.items())
    return Group(table, total, *stops, *(Text(f"put right: {line}") for line in report.repairs))
