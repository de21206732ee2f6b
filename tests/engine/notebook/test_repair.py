"""Shows that a damaged submission is repaired from the source: instructors' cells are restored, answers stay."""

import copy

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.page import sanitize
from grader.engine.cpu_limit import cpu_limit
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.repair import repair
from tests.support.notebooks import answered, cell, code, names_and_blanks, retyped, text
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
    """Nothing is reported, every cell stays, and a second repair changes nothing. Other line endings are no change."""
    repaired = repair(SOURCE, submission)
    assert repaired.changes == [] and names(repaired.notebook) == ORDER
    assert cell(repaired.notebook, "why").source == "It had to be."
    again = repair(SOURCE, repaired.notebook)
    assert again.changes == [] and again.notebook == repaired.notebook
    for line in submission.cells:
        line.source = line.source.replace("\n", "\r\n")
    cell(submission, "imports").source += "\r\n"
    assert graded(submission) == (2, "")


@pytest.mark.parametrize("name", ["imports", "one-check", "two-test-value", "two"])
def test_a_deleted_cell_is_back(submission, name):
    """It returns to its place, and the report names it. An answer is back empty, without the solution of the source.

    Repair and grading work on copies.
    """
    submission.cells.remove(cell(submission, name))
    before = copy.deepcopy((SOURCE, submission))
    points, repairs = graded(submission)
    assert points == (1 if name == "two" else 2) and repairs == f"{name}: this cell was missing and was restored"
    repaired = repair(SOURCE, submission).notebook
    assert names(repaired) == ORDER and (name != "two" or cell(repaired, "two").source == "")
    assert (SOURCE, submission) == before


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["assert True", "", "1", "import os\nos._exit(0)"])
def test_an_edited_test_is_ours_again(submission, edit):
    """Whatever a student writes into a test or read-only cell, the source's text runs and the source's points count."""
    for name in ("imports", "one-check", "two-test-value"):
        cell(submission, name).source = edit
    cell(submission, "one-check").metadata.nbgrader.points = 100
    points, repairs = graded(submission)
    assert points == 2 and repairs.count("you wrote" if edit else "its original text was restored") == 3
    assert edit in [each.source for each in repair(SOURCE, submission).notebook.cells] or not edit
    wrong = answered(submission, one="def one():\n    return 7")
    assert graded(wrong)[0] == 1


@pytest.mark.parametrize("name", ["imports", "one-check", "two-test-value"])
@pytest.mark.parametrize("place", ["above", "below", "inside", "both", "alone"])
def test_what_was_written_into_a_cell_of_ours_is_kept_below_it(submission, name, place):
    """Every line of the student's, no line of ours, and the sentence counts them."""
    known = cell(submission, name).source
    first, rest = known.partition("\n")[::2]
    cell(submission, name).source, kept, lines = {
        "above": (f"mine = 1\nprint(mine)\n\n{known}", "mine = 1\nprint(mine)", 2),
        "below": (f"{known}\r\n\r\nmine = 1\r\n", "mine = 1", 1),
        "inside": (f"{first}\nmine = 1\n\nmine = 2\n{rest}", "mine = 1\n\nmine = 2", 2),
        "both": (f"mine = 1\n{known}\nmine = 2", "mine = 1\n\nmine = 2", 2),
        "alone": ("mine = 1", "mine = 1", 1),
    }[place]
    repaired = repair(SOURCE, submission)
    number = names_and_blanks(repaired.notebook).index(name)
    below = repaired.notebook.cells[number + 1]
    assert (below.cell_type, below.source, grade_id(below)) == ("code", kept, None)
    (change,) = repaired.changes
    assert (change.cell, change.lines, change.is_about_text) == (name, lines, True)
    assert f"you wrote {lines} line" in str(change) and ("do" in str(change)) == (name != "imports")
    assert cell(repaired.notebook, name) == cell(SOURCE, name) and graded(submission)[0] == 2


BLANK = "# YOUR CODE HERE\nraise NotImplementedError()"
ANSWER = "def one():\n    return 1"


TYPED_ELSEWHERE = {
    "check": lambda notebook: typed_above(notebook, "one-check"),
    "below check": lambda notebook: cell(notebook, "one-check").update(source=f"assert one() == 1\n{ANSWER}"),
    "copy": lambda notebook: notebook.cells.append(retyped(notebook, "one", ANSWER)),
    "copy in front": lambda notebook: notebook.cells.insert(0, retyped(notebook, "one", BLANK)),
    "own cell": lambda notebook: notebook.cells.insert(2, code(f"helper = 1\n{ANSWER}")),
    "two own cells": lambda notebook: notebook.cells.__setitem__(
        slice(2, 2), [code("def one():\n    return 'first try'"), code(ANSWER)]
    ),
    "twice": lambda notebook: [
        notebook.cells.insert(2, code("def one():\n    return 'first try'")),
        typed_above(notebook, "one-check"),
    ],
}


def typed_above(notebook, name):
    """Write the answer above the text of a cell."""
    cell(notebook, name).source = f"{ANSWER}\n\n{cell(notebook, name).source}"


@pytest.mark.parametrize("blank", [BLANK, "", "\n", BLANK.replace("\n", "\r\n"), None], ids=repr)
@pytest.mark.parametrize("move", TYPED_ELSEWHERE.values(), ids=TYPED_ELSEWHERE)
def test_an_answer_in_the_wrong_cell_counts_if_nothing_is_in_the_right_one(submission, move, blank):
    """It becomes the answer, and its own check passes, too. The last one counts, as in JupyterLab."""
    cell(submission, "one").source = blank or ""
    move(submission)
    if move is TYPED_ELSEWHERE["copy in front"]:
        cell(submission, "one").source = BLANK
        next(each for each in submission.cells[1:] if grade_id(each) == "one").source = ANSWER
    elif blank is None and grade_id(submission.cells[-1]) != "one":
        submission.cells.remove(cell(submission, "one"))
    assert graded(submission)[0] == 2
    assert ANSWER in "\n".join(each.source for each in repair(SOURCE, submission).notebook.cells)


NOT_AN_ANSWER = {
    "other name": "def uno():\n    return 1",
    "only used": "print(one() == 1)",
    "in a text": "# def one(): ...",
    "compared": "one == 1",
    "inside": "if True:\n    def one():\n        return 1",
    "longer name": "def one_more():\n    return 1",
}


def test_what_does_not_define_the_answer_is_only_kept(submission):
    """The blank stays blank, and the text stands below the check. So it is with a wrong answer, which is an answer."""
    one = [(BLANK, typed) for typed in NOT_AN_ANSWER.values()] + [("def one():\n    return 7", ANSWER)]
    for written, typed in one:
        cell(submission, "one").source = written
        cell(submission, "one-check").source = typed
        repaired = repair(SOURCE, submission).notebook
        assert cell(repaired, "one").source == written
        assert typed in [each.source for each in repaired.cells if grade_id(each) is None]


def test_comments_in_a_blank_are_kept_with_the_answer(submission):
    """They may be a note for the teacher."""
    cell(submission, "one").source = f"# I do not know why\n{BLANK}"
    typed_above(submission, "one-check")
    answer = cell(repair(SOURCE, submission).notebook, "one").source
    assert "# I do not know why" in answer and answer.endswith(ANSWER)


@given(
    typed=st.lists(st.sampled_from(["x = 1", "", "    y", "assert one() == 1", "import torch"]) | st.text(max_size=8)),
    place=st.integers(0, 40),
    name=st.sampled_from(["imports", "one-check", "two-test-value"]),
)
@settings(deadline=None)
def test_no_line_is_lost_wherever_it_was_typed(typed, place, name):
    """Each line of the student's that is not one of ours is in the repaired notebook, in order."""
    submission = right()
    lines = cell(submission, name).source.split("\n")
    text = "\n".join(lines[:place] + typed + lines[place:]).replace("\r", "\n")
    cell(submission, name).source = text
    found = "\n".join(each.source for each in repair(SOURCE, submission).notebook.cells).split("\n")
    position = iter([line.rstrip() for line in found])
    wanted = [line.rstrip() for line in "\n".join(typed).replace("\r", "\n").split("\n")]
    assert all(line in position for line in wanted if line and line not in lines)


@pytest.mark.slow
def test_a_cell_of_thousands_of_lines_is_compared_at_once(submission):
    """However it differs from ours, and however often it was copied, no class would notice the time."""
    for line in ("assert one() == 1", "x", ""):
        edited = answered(submission, **{"one-check": f"y\n{line}\n" * 20_000, "two-test-value": "y\n" * 40_000})
        short = answered(edited, **{"one-check": f"{line}\ny\n" * 50, "two-test-value": "assert\n" * 50})
        edited.cells += [copy.deepcopy(cell(short, name)) for name in ["one-check", "two-test-value"] * 200]
        with cpu_limit(5):
            repair(SOURCE, edited)


def test_a_copied_cell_counts_once(submission):
    """The copy of a test is left out, before or after it. Of an answer, both are kept, and the later one counts."""
    wrong = answered(submission, one="one = None")
    for place in (0, len(wrong.cells)):
        twice = copy.deepcopy(wrong)
        twice.cells.insert(place, copy.deepcopy(cell(wrong, "one-check")))
        points, repairs = graded(twice)
        assert points == 1 and "one-check: a copy of this cell was left out" in repairs
    place = submission.cells.index(cell(submission, "one")) + 1
    submission.cells.insert(place, copy.deepcopy(cell(submission, "one")))
    submission.cells[place - 1].source = "def one():\n    return 'first try'"
    assert graded(submission) == (2, "one: a copy of this cell was kept as an ordinary cell")


def test_moved_cells_are_back_in_their_order(submission):
    """This holds if the tests were moved to the front; cells of the student's own stay after their neighbour."""
    helper = code("helper = 2")
    submission.cells.insert(submission.cells.index(cell(submission, "one")) + 1, helper)
    cell(submission, "two").source = "def two():\n    return helper"
    submission.cells.reverse()
    submission.cells.remove(helper)
    submission.cells.insert(submission.cells.index(cell(submission, "one")) + 1, helper)
    points, repairs = graded(submission)
    assert points == 2 and "cells were moved; their order was restored" in repairs
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
    # Files that were downloaded twice have such names.
    why.source, why.attachments = "![sketch](attachment:sketch (1).png)", {"sketch (1).png": {"image/jpeg": "/9j/"}}
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


@pytest.mark.parametrize("name", ["one", "one-check", "imports", "all"])
def test_a_cell_stripped_of_its_metadata_costs_nothing(submission, name):
    """A tool that drops metadata turns it into an ordinary cell, and the student's code in it still runs."""
    for stripped in submission.cells if name == "all" else [cell(submission, name)]:
        stripped.metadata = nbformat.from_dict({})
    points, repairs = graded(submission)
    assert points == 2 and (name == "all" or repairs == f"{name}: this cell was missing and was restored")


@pytest.mark.slow
def test_metadata_of_any_shape_is_survived(submission):
    """Metadata that nbgrader would not write count as none. An unknown grade_id is reported, and its code runs."""
    for marks in (None, 7, [], {"grade_id": None}, {"grade_id": ["one"]}, {"grade_id": ""}, {}):
        cell(damaged := copy.deepcopy(submission), "one").metadata.nbgrader = marks
        assert graded(damaged)[0] == 2, marks
    cell(submission, "one").metadata.nbgrader.grade_id = "uno"
    points, repairs = graded(submission)
    assert points == 2 and "uno: no cell has this name; it was kept as an ordinary cell" in repairs


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
