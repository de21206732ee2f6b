"""Once a class is graded, an assignment keeps its notebooks and cells: the gradebook has no place for others.

nbgrader has the same rule, and says neither which notebooks and cells it means nor what to do.
"""

from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, Notebook
from nbgrader.preprocessors import SaveCells

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.notebook import Kind, grade_id, kind


def require_same_notebooks(classroom: Classroom, assignment: str) -> None:
    """Raises CourseError where notebooks came or went since students were graded."""
    with classroom.gradebook() as gradebook:
        try:
            known = gradebook.find_assignment(assignment)
        except MissingEntry:
            return
        before = {f"{notebook.name}.ipynb" for notebook in known.notebooks} if known.num_submissions else set()
    now = {path.name for path in classroom.folder("source", assignment).glob("*.ipynb")}
    if before and (changes := _in_words({"added": now - before, "removed": before - now})):
        raise CourseError(
            f"it must keep its notebooks, because submissions of it were graded, and {changes}: take that back, or "
            f"{_start_anew(assignment)}"
        )


class SameCells(SaveCells):
    """Stands before nbgrader's SaveCells, and is off where that is: raises CourseError where it would refuse."""

    def preprocess(self, notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it came."""
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            try:
                known = gradebook.find_notebook(names["notebook"], names["assignment"])
            except MissingEntry:
                return notebook, resources
            if known.num_submissions and (changes := _changes(_kinds(known), notebook)):
                raise CourseError(
                    f"{names['notebook']}.ipynb must keep its graded, read-only and answer cells, because submissions "
                    f"of it were graded, and {changes}: take that back (a new test can go into a test cell that is "
                    f"there), or {_start_anew(names['assignment'])}"
                )
        return notebook, resources


def _kinds(known: Notebook) -> dict[str, Kind]:
    """The kind of each cell that the gradebook knows, by grade_id."""
    graded, answers = ({cell.name for cell in cells} for cells in (known.grade_cells, known.solution_cells))
    return dict.fromkeys((cell.name for cell in known.source_cells), Kind.READ_ONLY) | (
        dict.fromkeys(graded, Kind.TEST)
        | dict.fromkeys(answers, Kind.ANSWER)
        | dict.fromkeys(graded & answers, Kind.WRITTEN)
    )


def _changes(before: dict[str, Kind], notebook: NotebookNode) -> str:
    """In words what cells came, went and became of another kind."""
    now = {grade_id(cell): kind(cell) for cell in notebook.cells if kind(cell) is not Kind.FREE}
    return _in_words(
        {
            "added": now.keys() - before.keys(),
            "removed": before.keys() - now.keys(),
            "made another kind of cell": {name for name in now.keys() & before.keys() if now[name] is not before[name]},
        }
    )


def _in_words(changes: dict[str, set[str]]) -> str:
    return ", ".join(
        f"{' and '.join(sorted(names))} {'was' if len(names) == 1 else 'were'} {what}"
        for what, names in changes.items()
        if names
    )


def _start_anew(assignment: str) -> str:
    return (
        "forget all grades of the assignment, marks given by hand and the due date too, with "
        f"'nbgrader db assignment remove {assignment} --force', and grade everybody again"
    )
