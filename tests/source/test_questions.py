"""Quick questions of the notebooks: every option has an answer, and nothing of a question touches the notebook."""

import ast
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from grader_kernel.questions import in_folder
from tests.support.paths import REPOSITORY

NOTEBOOKS = sorted(REPOSITORY.glob("source/*/*.ipynb"))
ALL = in_folder(REPOSITORY / "source")
ASKING = ("choose", "number", "order", "point")
BESIDE = re.compile(
    r"\b(?:this notebook|(?:last|next|previous) (?:notebook|cell|section)|our (?:sentence|picture|table)"
    r"|you have (?:seen|read)|(?:picture|table|text|cell|formula|figure|plot) (?:above|below))\b",
    re.IGNORECASE,
)
"""Words that speak of the notebook around a question."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def cells(path: Path) -> list[nbformat.NotebookNode]:
    """Return the question cells of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.id.startswith("q-")]


@each_notebook
def test_a_notebook_asks_a_few_questions(path: Path) -> None:
    """Two to five: enough to predict something, and few enough to read on."""
    assert 2 <= len(cells(path)) <= 5


@each_notebook
def test_a_question_is_folded_and_not_graded(path: Path) -> None:
    """Its source holds the answers, and grading has no use for it."""
    for cell in cells(path):
        assert cell.metadata.jupyter.source_hidden and "experiment" in cell.metadata.tags, cell.id


@each_notebook
def test_a_question_binds_no_name_of_the_notebook(path: Path) -> None:
    """A cell that imports a name would replace a variable of the notebook with this name."""
    for cell in cells(path):
        tree = ast.parse(cell.source)
        assert [ast.unparse(each) for each in tree.body[:-1]] == ["import grader_kernel.questions"], cell.id
        assert isinstance(tree.body[-1], ast.Expr), cell.id


@each_notebook
def test_every_question_can_be_read_and_was_run(path: Path, tmp_path: Path) -> None:
    """The review reads cells without running them; the book shows their stored outputs."""
    tmp_path.joinpath(path.name).write_bytes(path.read_bytes())
    found = cells(path)
    assert len(in_folder(tmp_path)) == len(found)
    assert all(cell.outputs[0].data["text/html"].count("grader-widget") == 1 for cell in found)


@each_notebook
def test_no_question_points_to_a_cell_beside_it(path: Path) -> None:
    """The review asks it days later, without the notebook. Whether a number is missing, only its author can see."""
    for cell in cells(path):
        texts = [each.value for each in ast.walk(_call(cell)) if isinstance(each, ast.Constant)]
        assert not [text for text in texts if isinstance(text, str) and BESIDE.search(text)], cell.id


def test_names_differ() -> None:
    """Answers are kept by the names of questions."""
    found = [ast.literal_eval(_call(cell).args[0]) for path in NOTEBOOKS for cell in cells(path)]
    assert [name for name, times in Counter(found).items() if times > 1] == []


def test_all_kinds_are_used() -> None:
    """A course that only offered choices would teach guessing. A review of five a day lasts for some weeks."""
    assert {question["kind"] for question in ALL} == {*ASKING}
    assert len(ALL) >= 60


@pytest.mark.parametrize("question", ALL, ids=lambda question: question["name"])
def test_every_wrong_answer_that_was_foreseen_gets_a_reply(question: dict[str, object]) -> None:
    """There is at least one, and a reply says more than that it is wrong."""
    if question["kind"] == "choose":
        replies = [option["reply"] for option in question["options"]]  # type: ignore[attr-defined]
        assert sum(option["right"] for option in question["options"]) == 1  # type: ignore[attr-defined]
    else:
        replies = [question["reason"], *(wrong[-1] for wrong in question["wrong"])]  # type: ignore[attr-defined]
    assert len({*replies}) > 1
    assert [reply for reply in replies if len(reply.split()) < 5] == []


def _call(cell: nbformat.NotebookNode) -> ast.Call:
    (call,) = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Expr)]
    assert isinstance(call.value, ast.Call)
    return call.value
