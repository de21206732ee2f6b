"""No type of cell that nbgrader knows is unknown here: all combinations of its metadata are compared with nbgrader.

A combination that nbgrader refuses, or of which it counts points or comments twice, is refused by the cell's name.
"""

import copy
import itertools
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import CheckCellMetadata, ComputeChecksums, SaveCells

from grader.classroom.course_dir import CourseDir, make_tables
from grader.classroom.release import release
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.notebook.folder.files import read_source
from grader.engine.notebook.outline import GRADED, Outline
from grader.errors import GraderError
from tests.support import stock_nbgrader
from tests.support.notebooks import notebook
from tests.support.stock_nbgrader import CONFIG, write

NAME = "types"
FORMS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}
FLAGS = ("grade", "solution", "locked", "task")
COMBINATIONS = [(form, *flags) for form in FORMS for flags in itertools.product((False, True), repeat=4)]
POINTS = 1.5
ANSWERED = (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER, CellType.TASK)
"""Types of cells that get a comment."""


def cell_of(form: str, *flags: bool) -> NotebookNode:
    """Return a cell with these flags, whose name lists them."""
    marks = dict(zip(FLAGS, flags, strict=True))
    name = "-".join([form, *(flag for flag in FLAGS if marks[flag])])
    graded = {"points": POINTS} if marks["grade"] or marks["task"] else {}
    marks |= {"schema_version": 3, "grade_id": name} | graded
    return FORMS[form]("assert True", metadata={"nbgrader": marks})


def recorded(cell: NotebookNode, folder: Path) -> dict[str, list[float | None]] | None:
    """Return the maximum of points that nbgrader records for each row of a cell, by table; None if it refuses it."""
    url = f"sqlite:///{folder / 'stock.db'}"
    make_tables(url)
    with Gradebook(url) as gradebook:
        gradebook.add_assignment(NAME)
    nb, names = notebook(copy.deepcopy(cell)), {"nbgrader": {"notebook": "one", "assignment": NAME, "db_url": url}}
    try:
        for preprocessor in (CheckCellMetadata, ComputeChecksums, SaveCells):
            nb, names = preprocessor()(nb, names)
    except Exception:  # some combinations break nbgrader
        return None
    with Gradebook(url) as gradebook:
        found = gradebook.find_notebook("one", NAME)
        kinds = {"grades": (found.grade_cells, found.task_cells), "comments": (found.solution_cells, found.task_cells)}
        return {
            kind: [getattr(each, "max_score", None) for cells in tables for each in cells]
            for kind, tables in kinds.items()
        }


def expected_type(cell: NotebookNode) -> CellType:
    """Return the type that nbgrader's own functions give a cell."""
    match utils.is_task(cell), utils.is_grade(cell), utils.is_solution(cell), utils.is_locked(cell):
        case True, _, _, _:
            return CellType.TASK
        case _, True, True, _:
            return CellType.MANUAL_ANSWER
        case _, True, _, _:
            return CellType.TEST
        case _, _, True, _:
            return CellType.AUTOGRADED_ANSWER
        case _, _, _, True:
            return CellType.READ_ONLY
    return CellType.UNMARKED


def read(cell: NotebookNode, folder: Path) -> NotebookNode:
    """Return a source with this cell alone, as each command reads it."""
    path = folder / "source" / NAME / "one.ipynb"
    write(path.parent, {path.stem: notebook(cell)})
    return read_source(path, 10)


@pytest.mark.parametrize("combination", COMBINATIONS, ids=lambda each: str(cell_of(*each).metadata.nbgrader.grade_id))
def test_each_combination_has_the_type_of_nbgrader_or_is_refused_by_name(
    combination: tuple[str, bool, bool, bool, bool], tmp_path: Path
) -> None:
    """And gets the rows and points of nbgrader."""
    cell = cell_of(*combination)
    name, stock = cell.metadata.nbgrader.grade_id, recorded(cell, tmp_path)
    if stock is None or any(len(found) > 1 for found in stock.values()):
        with pytest.raises(GraderError, match=rf"types/one\.ipynb: {name} [^\n]+$"):
            read(cell, tmp_path)
        return
    outline = Outline(read(cell, tmp_path))
    (kind,) = outline.types
    assert kind is expected_type(cell)
    assert (kind in GRADED, kind in ANSWERED) == (bool(stock["grades"]), bool(stock["comments"]))
    if kind in GRADED:
        assert [outline.max_points(name)] == stock["grades"] == [POINTS]


WRONG = {
    "no name": {"grade_id": None},
    "an empty name": {"grade_id": ""},
    "no points": {"points": None},
    "negative points": {"points": -1},
    "points in words": {"points": "many"},
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("form", ["code", "markdown"])
def test_wrong_metadata_is_refused_by_name(kind: str, form: str, tmp_path: Path) -> None:
    """As nbgrader refuses it; a cell without a name by its number."""
    cell = cell_of(form, form == "code", False, True, form == "markdown")
    name = cell.metadata.nbgrader.grade_id if "points" in kind else "cell 1"
    for key, value in WRONG[kind].items():
        cell.metadata.nbgrader.pop(key) if value is None else cell.metadata.nbgrader.update({key: value})
    assert recorded(cell, tmp_path) is None
    with pytest.raises(GraderError, match=rf"types/one\.ipynb: {name} [^\n]+: give it [^\n]+$"):
        read(cell, tmp_path)


def test_metadata_of_an_old_version_must_be_updated(tmp_path: Path) -> None:
    """With nbgrader's own command, after which a task is one."""
    folder = tmp_path / "course"
    cell = cell_of("markdown", False, False, True, True)
    cell.metadata.nbgrader.schema_version = 2
    write(folder / "source" / NAME, {"one": notebook(cell)})
    (folder / "nbgrader_config.py").write_text(CONFIG)
    with pytest.raises(GraderError, match=r"metadata of an old nbgrader .* run 'nbgrader update \.'"):
        release(CourseDir(folder), NAME)
    assert stock_nbgrader.run(folder, "nbgrader", "update", ".").returncode == 0
    release(CourseDir(folder), NAME)
    assert Outline(read_source(folder / "source" / NAME / "one.ipynb", 10)).types == [CellType.TASK]


@pytest.mark.slow
def test_all_types_together_are_graded(tmp_path: Path) -> None:
    """Each has the rows of its type, even if a student changes all cells.

    An unlocked task, which nbgrader registers and then cannot grade, has those of a locked one.
    """
    cells = []
    for combination in COMBINATIONS:
        with suppress(GraderError):
            cells.append(read(cell_of(*combination), tmp_path / "alone").cells[0])
    write(tmp_path / "source" / NAME, {"all": notebook(*cells)})
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    release(CourseDir(tmp_path), NAME)
    changed = nbformat.read(tmp_path / "release" / NAME / "all.ipynb", as_version=4)
    for each in changed.cells:
        each.source = "assert 1 == 1"
    write(tmp_path / "submitted" / "ann" / NAME, {"all": changed})
    stock_nbgrader.grade_class(tmp_path, NAME)
    found = stock_nbgrader.rows(tmp_path, NAME)
    waits = {each: (None, None, POINTS, True) for each in ("markdown-task", "markdown-locked-task")}
    assert {name: row for (*_, kind, name), row in found.items() if kind == "grade" and name in waits} == waits
    expected = {("grade", grade_id(each)) for each in cells if type_of(each) in GRADED}
    expected |= {("comment", grade_id(each)) for each in cells if type_of(each) in ANSWERED}
    assert {(kind, name) for *_, kind, name in found} == expected and len(expected) > 10
