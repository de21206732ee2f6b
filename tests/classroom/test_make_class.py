"""The class in examples/ hands in the notebooks of the release, changed only as the lists of its students say."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from examples.make_class import make_class
from grader.engine.notebook.cells import grade_id
from grader.errors import GraderError
from tests.support.paths import REPOSITORY

ASSIGNMENT = "04-attention"
RELEASE = REPOSITORY / "release" / ASSIGNMENT


def read(path: Path) -> NotebookNode:
    """Return a notebook of the release or of the class."""
    return nbformat.read(path, as_version=4)


def cells_of(notebook: NotebookNode, name: str) -> list[NotebookNode]:
    """Return all cells with a grade_id."""
    return [cell for cell in notebook.cells if grade_id(cell) == name]


def test_damage_is_what_the_list_says(tmp_path: Path) -> None:
    """A copy is below its original, a retyped cell keeps its text, a lost cell is gone, and the others keep order."""
    damage = "copied = ['vanilla-attention']\nretyped = ['vanilla-attention-check']\nlost = ['question-which-state']"
    made = read(hand_in(tmp_path, f"[1-vanilla-attention.damage]\n{damage}") / "1-vanilla-attention.ipynb")
    released = read(RELEASE / "1-vanilla-attention.ipynb")
    names = [grade_id(cell) for cell in released.cells if grade_id(cell) != "question-which-state"]
    names.insert(names.index("vanilla-attention"), "vanilla-attention")
    assert [grade_id(cell) for cell in made.cells] == names
    original, twin = cells_of(made, "vanilla-attention")
    assert [original] == cells_of(released, "vanilla-attention")
    assert twin == {**original, "id": f"{original.id}-copy"}
    (before,), (after,) = (cells_of(notebook, "vanilla-attention-check") for notebook in (released, made))
    assert after == {key: before[key] for key in ("id", "source", "metadata")} | {"cell_type": "markdown"}


ANSWER, DAMAGE = "[1-vanilla-attention.answers]\n", "[1-vanilla-attention.damage]\n"


def hand_in(folder: Path, text: str) -> Path:
    """Make a class of one student, Kim, with a list, and return the folder with the notebooks."""
    (folder / ASSIGNMENT).mkdir()
    (folder / ASSIGNMENT / "kim.toml").write_text(text)
    make_class(RELEASE, folder / "submitted", folder)
    return folder / "submitted" / "kim" / ASSIGNMENT


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{ANSWER}gone = 'whole'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{ANSWER}vanilla-attention = ['one']", "kim, 1-vanilla-attention: vanilla-attention has 2 blanks"),
        (
            f"{ANSWER}vanilla-attention-check = 'whole'",
            "kim, .*: vanilla-attention-check is no answer",
        ),
        ("[gone.answers]\nvanilla-attention = 'whole'", "kim, gone: the release has no such notebook"),
        (f"{DAMAGE}lost = ['gone']", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}truncated_at = 'gone'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}burnt = ['vanilla-attention']", "kim, 1-vanilla-attention: .*'burnt'"),
    ],
)
def test_a_list_that_does_not_fit_the_release_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    """The message names the student, the notebook and the cell or key."""
    with pytest.raises(GraderError, match=says):
        hand_in(tmp_path, text)
