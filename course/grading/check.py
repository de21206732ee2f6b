"""One notebook graded on its own, with no gradebook: for who learns alone, and for who tinkers."""

from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.grade import grade
from course.grading.limits import Limits
from course.grading.repair import read
from course.grading.report import Report, Verdict
from course.grading.sources import read_source
from course.misconceptions import load


def check(classroom: Classroom, notebook: Path, *, sandbox: bool = True) -> Report:
    """The report on `notebook`, which is judged by the source notebook of the same name.

    Raises CourseError where there is no such source, and Unreadable where the notebook cannot be read.
    """
    if not notebook.exists():
        raise CourseError(f"there is no file {notebook}")
    limits = Limits(config=classroom.config)
    found = [path for path in map(classroom.require, classroom.assignments()) if (path / notebook.name).exists()]
    if not classroom.assignments():
        raise CourseError(f"a notebook is judged by its source, and {classroom.root} has none in source/: ask who has")
    if not found:
        raise CourseError(f"no notebook in source/ is called {notebook.name}: do not rename what you were given")
    # Where assignments share a name, the folder that the notebook lies in decides.
    source = next((path for path in found if path.name == notebook.resolve().parent.name), found[0])
    ours = read_source(source / notebook.name, limits.notebook_mb)
    theirs = read(notebook.resolve(), limits.notebook_mb)
    return grade(ours, theirs, limits, sandbox=sandbox, misconceptions=load(source))


def shown(report: Report) -> Group:
    """A row a test with what it found, then the points, and what was put right beforehand."""
    table = Table(box=None, pad_edge=False)
    for name, justify in (("test", "left"), ("points", "right"), ("", "left")):
        table.add_column(name, justify=justify, overflow="fold")
    for result in report.results:
        words = "" if result.verdict is Verdict.PASSED else f"{result.verdict}: {result.message}"
        table.add_row(result.name, f"{result.points:g} / {result.max_points:g}", Text(words))
    total = Text(f"\n{report.points:g} of {report.max_points:g} points from tests")
    return Group(table, total, *(Text(f"put right: {line}") for line in report.repairs))
