"""A box for a written answer waits for a person if there is text in it or next to it, and for nothing else."""

import copy

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from grader.classroom.page import sanitize
from grader.engine.explanation import Change
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.notebook.repair import repair
from tests.support.notebooks import answered, cell, code, helpers, names_and_blanks, notebook, retyped, text, written


def text_of_ours(name, source):
    """Return a read-only text cell."""
    marked = helpers(name, "")
    return nbformat.v4.new_markdown_cell(source, metadata=marked.metadata)


QUESTIONS = notebook(
    text("# A question"),
    text_of_ours("why-text", "Why is that so?\n\n*Two sentences.*"),
    written("why", "Because."),
    text("And so on."),
    text_of_ours("how-text", "How is it done?"),
    written("how", "So."),
)
BOX = "<div>\n\n**YOUR ANSWER HERE.**\n\n</div>"


def asked(**answers):
    """Return the released notebook of QUESTIONS with other texts."""
    released = answered(QUESTIONS, why=BOX, how=BOX)
    for part in released.cells:
        if grade_id(part):
            part.metadata.nbgrader.checksum = compute_checksum(part)
    return answered(released, **answers)


def waiting(submission):
    """Return the boxes that wait for a person, as nbgrader will see them."""
    boxes = [part for part in repair(QUESTIONS, submission).notebook.cells if type_of(part) is CellType.MANUAL_ANSWER]
    # Grading adds the checksum of the release to all boxes about which repair says nothing.
    return [grade_id(box) for box in boxes if box.metadata.nbgrader.get("checksum", "") != compute_checksum(box)]


def test_a_box_without_an_answer_does_not_wait():
    """Line endings and blanks are no answer, and an emptied box has none."""
    endings = [f"\n{BOX}  \n", BOX.replace("\n", "\r\n"), BOX.replace("\n", "\r")]
    for blank in (BOX, *endings, "", " \t\n", "<div></div>", "&nbsp;<br/>"):
        assert waiting(asked(why=blank)) == [] and repair(QUESTIONS, asked(why=blank)).changes == []
        assert waiting(asked(why=f"{blank}.")) == ["why"]


BESIDE = {
    "below": lambda cells: cells.insert(3, text("Because.")),
    "above": lambda cells: cells.insert(2, text("Because.")),
    "code": lambda cells: cells.insert(3, code("because = 1")),
    "raw": lambda cells: cells.insert(3, nbformat.v4.new_raw_cell("Because.")),
    "below an empty one": lambda cells: cells.__setitem__(slice(3, 3), [text(" "), text("Because.")]),
    "in our text below": lambda cells: cells[3].update(source="And so on.\n\nBecause."),
    "in the question": lambda cells: cells[1].update(source=f"{cells[1].source}\n\nBecause."),
    "in the middle of the question": lambda cells: cells[1].update(
        source=cells[1].source.replace("so?\n", "so?\nBecause.\n")
    ),
    # A derivation on paper, pasted into a cell, reaches the person who marks it.
    "picture": lambda cells: cells.insert(
        3, text("![sketch](attachment:a.png)") | {"attachments": {"a.png": {"image/png": "iVBORw0KGgo="}}}
    ),
}


@pytest.mark.parametrize("move", BESIDE.values(), ids=BESIDE)
def test_text_next_to_an_empty_box_waits_for_marking(move):
    """The box says so, and no other box does."""
    submission = asked()
    move(submission.cells)
    repaired = repair(QUESTIONS, submission)
    assert waiting(submission) == ["why"]
    assert [each.cell for each in repaired.changes if each.change is Change.WRITTEN_BESIDE] == ["why"]
    if move is BESIDE["picture"]:
        shown = sanitize.markdown(repaired.notebook.cells[3].source)
        assert 'src="data:image/png;base64,iVBORw0KGgo="' in shown
    else:
        assert "ecause" in "".join(each.source for each in repaired.notebook.cells)


def test_a_box_without_its_metadata_waits():
    """A tool that drops metadata makes its text a cell of the student's, and the box returns next to it."""
    submission = asked(why="It had to be.")
    cell(submission, "why").metadata = nbformat.from_dict({})
    assert waiting(submission) == ["why"]
    repaired = repair(QUESTIONS, submission).notebook
    assert names_and_blanks(repaired) == [None, "why-text", None, "why", None, "how-text", "how"]
    submission = asked()
    submission.cells.remove(cell(submission, "why"))
    assert waiting(submission) == [] and names_and_blanks(repair(QUESTIONS, submission).notebook)[2] == "why"


def test_text_of_ours_and_text_elsewhere_make_no_box_wait():
    """Neither other line endings or blanks in all cells, nor a note at the beginning or behind a cell of ours."""
    for end in ("\r\n", " \n"):
        submission = asked()
        for part in submission.cells:
            part.source = part.source.replace("\n", end) + end
        assert waiting(submission) == []
    for place in (0, 1, 4):
        submission = asked()
        submission.cells.insert(place, text("A note."))
        assert waiting(submission) == []


def test_a_copy_of_the_box_with_the_answer_counts():
    """The text goes into the box, and waits."""
    submission = asked()
    submission.cells.append(retyped(submission, "why", "It had to be."))
    repaired = repair(QUESTIONS, submission).notebook
    assert waiting(submission) == ["why"] and cell(repaired, "why").source == "It had to be."


def test_a_cell_of_an_earlier_release_is_not_edited():
    """A typing error that we corrected after students had the notebook is not theirs."""
    old = asked()
    new = copy.deepcopy(QUESTIONS)
    cell(new, "why-text").source = "Why, then?"
    cell(new, "why").metadata.nbgrader.points = 5
    assert repair(new, old).changes == []
    for part in old.cells:
        part.source = part.source.replace("\n", "\r\n")
    assert repair(new, old).changes == []
