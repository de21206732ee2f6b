"""Keeps the notebooks and cells of an assignment the same once students are graded: the gradebook cannot take others.

nbgrader has the same rule, but its error neither names the notebooks and cells nor says what to do.
"""

from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, Notebook
from nbgrader.preprocessors import SaveCells

from grader.classroom.course_dir import CourseDir
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.errors import GraderError


def require_same_notebooks(course_dir: CourseDir, assignment: str) -> None:
    """Check that no notebook of a graded assignment was added or removed.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name; one that the gradebook does not know yet may have any notebooks.

    Raises:
        GraderError: notebooks were added or removed since students were graded.
    """
    with course_dir.gradebook() as gradebook:
        try:
            entry = gradebook.find_assignment(assignment)
        except MissingEntry:
            return
        before = {f"{notebook.name}.ipynb" for notebook in entry.notebooks} if entry.num_submissions else set()
    now = {path.name for path in course_dir.folder("source", assignment).glob("*.ipynb")}
    if before and (changes := _described({"added": now - before, "removed": before - now})):
        raise GraderError(
            f"it must keep its notebooks, because submissions of it were graded, and {changes}: undo this change, or "
            f"{_starting_over(assignment)}"
        )


class CellGuard(SaveCells):
    """Runs before nbgrader's SaveCells, and raises GraderError where that would refuse; disabled together with it."""

    def preprocess(self, notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return both arguments unchanged.

        Args:
            notebook: a source notebook that is being released or registered.
            resources: nbconvert's resources, with nbgrader's names of the notebook and its assignment.

        Raises:
            GraderError: the notebook was graded, and its nbgrader cells are not those that the gradebook has.
        """
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            try:
                entry = gradebook.find_notebook(names["notebook"], names["assignment"])
            except MissingEntry:
                return notebook, resources
            if entry.num_submissions and (changes := _changes(_registered_types(entry), notebook)):
                raise GraderError(
                    f"{names['notebook']}.ipynb must keep its graded, read-only and answer cells, because submissions "
                    f"of it were graded, and {changes}: undo this change (a new test can go into an existing test "
                    f"cell), or {_starting_over(names['assignment'])}"
                )
        return notebook, resources


def _registered_types(entry: Notebook) -> dict[str, CellType]:
    """The type of each cell in the gradebook's entry of a notebook, by grade_id."""
    graded, answers = ({cell.name for cell in cells} for cells in (entry.grade_cells, entry.solution_cells))
    return dict.fromkeys((cell.name for cell in entry.source_cells), CellType.READ_ONLY) | (
        dict.fromkeys(graded, CellType.TEST)
        | dict.fromkeys(answers, CellType.AUTOGRADED_ANSWER)
        | dict.fromkeys(graded & answers, CellType.MANUAL_ANSWER)
    )


def _changes(before: dict[str, CellType], notebook: NotebookNode) -> str:
    """The cells that were added, removed or given another type, in words."""
    types = ((grade_id(cell), type_of(cell)) for cell in notebook.cells)
    now = {name: cell_type for name, cell_type in types if name and cell_type is not CellType.UNMARKED}
    return _described(
        {
            "added": now.keys() - before.keys(),
            "removed": before.keys() - now.keys(),
            "given another type": {name for name in now.keys() & before.keys() if now[name] is not before[name]},
        }
    )


def _described(changes: dict[str, set[str]]) -> str:
    return ", ".join(
        f"{' and '.join(sorted(names))} {'was' if len(names) == 1 else 'were'} {change}"
        for change, names in changes.items()
        if names
    )


def _starting_over(assignment: str) -> str:
    return (
        f"remove the assignment from the gradebook with 'nbgrader db assignment remove {assignment} --force' and grade "
        "all students again (this deletes all grades, manual marks and the due date)"
    )
