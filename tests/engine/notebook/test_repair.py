"""Shows that a damaged submission is repaired from the source: instructors' cells are restored, answers stay."""

import copy

import nbformat
import pytest

from grader.classroom.page import sanitize
from grader.engine.grading import grade
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.repair import repair
from tests.support.notebooks import answered, cell, code, text
from tests.support.two_exercises import SOURCE, graded, right

ORDER = ["imports", "one", "one-check", "two", "two-test-value", "why"]


@pytest.fixture
def submission():
    """The notebook of `right`, to be damaged."""
    return right()


def names(notebook):
    """Return the grade_ids in a notebook, in order."""
    return [name for cell in notebook.cells if (name := grade_id(cell))]


def test_a_sound_submission_needs_no_repair(submission):
    """Nothing is reported, every cell stays, and a second repair changes nothing."""
    repaired = repair(SOURCE, submission)
    assert repaired.changes == [] and names(repaired.notebook) == ORDER
    assert cell(repaired.notebook, "why").source == "It had to be."
    again = repair(SOURCE, repaired.notebook)
    assert again.changes == [] and again.notebook == repaired.notebook


def test_neither_notebook_is_changed(submission):
    """Repair and grading work on copies."""
    submission.cells.reverse()
    before = copy.deepcopy((SOURCE, submission))
    grade(SOURCE, submission)
    assert (SOURCE, submission) == before


@pytest.mark.parametrize("name", ["imports", "one-check", "two-test-value"])
def test_a_deleted_cell_of_ours_is_back(submission, name):
    """Deleting a test does not remove it: it returns to its place, and the report names it."""
    submission.cells.remove(cell(submission, name))
    points, repairs = graded(submission)
    assert points == 2 and repairs == f"{name}: this cell was missing and is back"
    assert names(repair(SOURCE, submission).notebook) == ORDER


def test_a_deleted_answer_is_back_empty(submission):
    """Its exercise earns nothing, and the solution of the source does not take its place."""
    submission.cells.remove(cell(submission, "two"))
    points, repairs = graded(submission)
    assert points == 1 and repairs == "two: this cell was missing and is back"
    assert cell(repair(SOURCE, submission).notebook, "two").source == ""


@pytest.mark.parametrize("edit", ["assert True", "", "1", "import os\nos._exit(0)"])
def test_an_edited_test_is_ours_again(submission, edit):
    """Whatever a student writes into a test or read-only cell, the source's text runs and the source's points count."""
    for name in ("imports", "one-check", "two-test-value"):
        cell(submission, name).source = edit
    cell(submission, "one-check").metadata.nbgrader.points = 100
    assert graded(submission) == (2, "imports: this read-only cell was edited; its original text is back")
    wrong = answered(submission, one="def one():\n    return 7")
    assert graded(wrong)[0] == 1


def test_other_line_endings_are_no_change(submission):
    """The line endings of another system are not reported as a repair."""
    for line in submission.cells:
        line.source = line.source.replace("\n", "\r\n")
    cell(submission, "imports").source += "\r\n"
    assert graded(submission) == (2, "")


def test_a_copied_test_counts_once(submission):
    """The copy is left out, whether it comes before or after the original."""
    wrong = answered(submission, one="one = None")
    for place in (0, len(wrong.cells)):
        twice = copy.deepcopy(wrong)
        twice.cells.insert(place, copy.deepcopy(cell(wrong, "one-check")))
        points, repairs = graded(twice)
        assert points == 1 and "one-check: a copy of this cell was left out" in repairs


def test_a_copied_answer_is_kept_as_an_ordinary_cell(submission):
    """A student who copied the cell to try something out loses neither; the later one counts, as in JupyterLab."""
    place = submission.cells.index(cell(submission, "one")) + 1
    submission.cells.insert(place, copy.deepcopy(cell(submission, "one")))
    submission.cells[place - 1].source = "def one():\n    return 'first try'"
    points, repairs = graded(submission)
    assert points == 2 and repairs == "one: a copy of this cell was kept as an ordinary cell"


def test_moved_cells_are_back_in_their_order(submission):
    """This holds if the tests were moved to the front; cells of the student's own stay after their neighbour."""
    helper = code("helper = 2")
    submission.cells.insert(submission.cells.index(cell(submission, "one")) + 1, helper)
    cell(submission, "two").source = "def two():\n    return helper"
    submission.cells.reverse()
    submission.cells.remove(helper)
    submission.cells.insert(submission.cells.index(cell(submission, "one")) + 1, helper)
    points, repairs = graded(submission)
    assert points == 2 and "cells were moved; they are back in their order" in repairs
    assert names(repair(SOURCE, submission).notebook) == ORDER


def test_a_picture_pasted_into_an_answer_is_kept(submission):
    """A derivation on paper is an answer: the person who marks it sees it on the page, as the student did."""
    png = "iVBORw0KGgo="
    why = cell(submission, "why")
    why.source = "See ![sketch](attachment:a.png)" + " ![again](attachment:a.png)" * 9
    why.attachments = {"a.png": {"image/png": png}, "b.png": "no picture", "c.png": {"image/png": 5}}
    kept = cell(repair(SOURCE, submission).notebook, "why")
    assert f'src="data:image/png;base64,{png}"' in sanitize.markdown(kept.source) and kept.source.count(png) == 1
    nbformat.validate(repair(SOURCE, submission).notebook)


def test_a_pictures_name_may_have_parentheses(submission):
    """Files that were downloaded twice have such names."""
    why = cell(submission, "why")
    why.source = "![sketch](attachment:sketch (1).png)"
    why.attachments = {"sketch (1).png": {"image/jpeg": "/9j/"}}
    assert cell(repair(SOURCE, submission).notebook, "why").source == "![sketch](data:image/jpeg;base64,/9j/)"


def test_a_retyped_cell_is_of_its_type_again(submission):
    """An answer that was saved as markdown becomes code again and counts; a test that was saved as markdown runs."""
    for name in ("one", "two-test-value"):
        place = submission.cells.index(cell(submission, name))
        old = submission.cells[place]
        submission.cells[place] = text(old.source)
        submission.cells[place].metadata = old.metadata
    points, repairs = graded(submission)
    assert points == 2
    assert "one: this cell was of type markdown and is code again" in repairs and "two-test-value: " in repairs


@pytest.mark.parametrize("name", ["one", "one-check", "imports"])
def test_a_cell_stripped_of_its_metadata_costs_nothing(submission, name):
    """A tool that drops metadata turns it into an ordinary cell, and the student's code in it still runs."""
    cell(submission, name).metadata = nbformat.from_dict({})
    points, repairs = graded(submission)
    assert points == 2 and repairs == f"{name}: this cell was missing and is back"


def test_all_metadata_stripped_costs_nothing(submission):
    """This holds even if all cells lose it at once."""
    for stripped in submission.cells:
        stripped.metadata = nbformat.from_dict({})
    assert graded(submission)[0] == 2


def test_a_renamed_cell_is_kept_and_named(submission):
    """An unknown grade_id is reported; the code in it still runs, so the points stay."""
    cell(submission, "one").metadata.nbgrader.grade_id = "uno"
    points, repairs = graded(submission)
    assert points == 2 and "uno: no cell has this name; it was kept as an ordinary cell" in repairs


@pytest.mark.parametrize(
    "marks", [None, 7, [], {"grade_id": None}, {"grade_id": ["one"]}, {"grade_id": ""}, {}], ids=str
)
def test_metadata_of_any_shape_is_survived(submission, marks):
    """Metadata that nbgrader would not write count as none."""
    cell(submission, "one").metadata.nbgrader = marks
    assert graded(submission)[0] == 2


def test_swapped_names_do_not_swap_points(submission):
    """An answer under another cell's name takes that cell's place, and the source's tests run after it."""
    first, second = cell(submission, "one"), cell(submission, "two-test-value")
    first.metadata.nbgrader.grade_id, second.metadata.nbgrader.grade_id = "two-test-value", "one"
    assert graded(submission)[0] <= 1


def test_experiment_tags_switch_no_test_off(submission):
    """A tag that makes grading skip a cell counts only on the student's own cells."""
    for marked in submission.cells:
        marked.metadata.tags = ["experiment", "skip-execution"]
    assert graded(submission)[0] == 2
    cell(submission, "one").source = "one = None"
    assert graded(submission)[0] == 1


def test_outputs_and_ids_of_the_submission_do_not_matter(submission):
    """Outputs of the student's machine are dropped, and cells that share an id get different ones."""
    for part in submission.cells:
        part.id = "same"
        if part.cell_type == "code":
            part.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "100"})]
    repaired = repair(SOURCE, submission).notebook
    assert len({part.id for part in repaired.cells}) == len(repaired.cells)
    assert not any(part.get("outputs") for part in repaired.cells)
    assert graded(submission) == (2, "")
