"""Small notebooks for tests, made cell by cell as an instructor writes them."""

import copy

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from grader.engine.notebook.cells import grade_id

IN_A_FRONT_END = Config(Session={"metadata": {"cellId": "the front end's name of the cell"}})
"""For nbclient: send with each cell what JupyterLab sends, and programs that run a notebook do not."""


def notebook(*cells: NotebookNode) -> NotebookNode:
    """A notebook of `cells`."""
    return new_notebook(cells=list(cells), metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def answer(name: str, source: str, *tags: str) -> NotebookNode:
    """The blank that a student fills in."""
    return new_code_cell(source, metadata=_marks(name, solution=True, locked=False) | _tagged(tags))


def check(name: str, source: str, points: float = 1) -> NotebookNode:
    """A test whose code the student sees."""
    return new_code_cell(source, metadata=_marks(name, grade=True, points=points))


def hidden(name: str, truth: str, source: str, points: float = 1) -> NotebookNode:
    """A test of which the student sees the sentence `truth` only."""
    return check(name, f"# {truth}\n### BEGIN HIDDEN TESTS\n{source}\n### END HIDDEN TESTS", points)


def helpers(name: str, source: str) -> NotebookNode:
    """A read-only cell: imports and helpers of ours."""
    return new_code_cell(source, metadata=_marks(name))


def written(name: str, text: str, points: float = 2) -> NotebookNode:
    """A question that a person marks, with the text of its answer."""
    return new_markdown_cell(text, metadata=_marks(name, grade=True, solution=True, locked=False, points=points))


def task(name: str, text: str, points: float = 4) -> NotebookNode:
    """A task that a person marks, in cells that the student adds."""
    return new_markdown_cell(text, metadata=_marks(name, task=True, points=points))


def code(source: str, *tags: str) -> NotebookNode:
    """A code cell that nbgrader does not know."""
    return new_code_cell(source, metadata=_tagged(tags))


def text(source: str) -> NotebookNode:
    """A text cell that nbgrader does not know."""
    return new_markdown_cell(source)


def answered(source: NotebookNode, **answers: str) -> NotebookNode:
    """A submission: `source` with other text in the cells named."""
    submission = copy.deepcopy(source)
    for name, said in answers.items():
        cell(submission, name).source = said
    return submission


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell of the notebook that has the grade_id `name`."""
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


def names_and_blanks(notebook: NotebookNode) -> list[str | None]:
    """Return the grade_id of each cell."""
    return [grade_id(cell) for cell in notebook.cells]


def retyped(notebook: NotebookNode, name: str, source: str) -> NotebookNode:
    """Return a copy of a cell with another text."""
    return nbformat.from_dict({**copy.deepcopy(cell(notebook, name)), "source": source, "id": "copy"})


def _tagged(tags: tuple[str, ...]) -> dict[str, object]:
    return {"tags": list(tags)} if tags else {}


def _marks(name: str, **marks: object) -> dict[str, object]:
    common = {"schema_version": 3, "grade_id": name, "grade": False, "solution": False, "locked": True, "task": False}
    return {"nbgrader": {**common, **marks}}


def with_answer(notebook: NotebookNode, exercise: str, answer: str) -> NotebookNode:
    """A copy of `notebook` in which the answer cell `exercise` reads `answer`; raises KeyError where there is none."""
    twin = copy.deepcopy(notebook)
    for each in twin.cells:
        if grade_id(each) == exercise:
            each.source = answer
            return twin
    raise KeyError(f"no cell is called {exercise}")
