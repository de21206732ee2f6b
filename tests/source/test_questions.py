"""Quick questions of the notebooks: every option has an answer, and nothing of a question touches the notebook."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from nbformat import NotebookNode

from grader_kernel.questions import in_folder
from tests.support.exercises import NOTEBOOKS, each_notebook
from tests.support.paths import REPOSITORY

ALL = in_folder(REPOSITORY / "source")
BESIDE = re.compile(
    r"\b(?:this notebook|(?:last|next|previous) (?:notebook|cell|section)|our (?:sentence|picture|table)"
    r"|you have (?:seen|read)|(?:picture|table|text|cell|formula|figure|plot) (?:above|below))\b",
    re.IGNORECASE,
)
"""Words that speak of the notebook around a question."""


def cells(path: Path) -> list[NotebookNode]:
    """Return the question cells of a notebook."""
    return [cell for cell in NOTEBOOKS[path].cells if cell.id.startswith("q-")]


@each_notebook
def test_a_notebook_asks_a_few_questions(path: Path, tmp_path: Path) -> None:
    """Two to five, which the review reads from their cells without running them; the book shows their outputs."""
    tmp_path.joinpath(path.name).write_bytes(path.read_bytes())
    found = cells(path)
    assert 2 <= len(found) <= 5 and len(in_folder(tmp_path)) == len(found)
    assert all(cell.outputs[0].data["text/html"].count("grader-widget") == 1 for cell in found)


@each_notebook
def test_a_question_is_folded_and_has_nothing_to_do_with_its_notebook(path: Path) -> None:
    """Its source holds the answers; an imported name would replace a variable; the review asks it days later."""
    for cell in cells(path):
        assert cell.metadata.jupyter.source_hidden and "experiment" in cell.metadata.tags, cell.id
        tree = ast.parse(cell.source)
        assert [ast.unparse(each) for each in tree.body[:-1]] == ["import grader_kernel.questions"], cell.id
        assert isinstance(tree.body[-1], ast.Expr), cell.id
        texts = [each.value for each in ast.walk(_call(cell)) if isinstance(each, ast.Constant)]
        assert not [text for text in texts if isinstance(text, str) and BESIDE.search(text)], cell.id


def test_all_kinds_are_used_under_names_that_differ() -> None:
    """Answers are kept by names; choices alone would teach guessing; a review of five a day lasts for some weeks."""
    found = [ast.literal_eval(_call(cell).args[0]) for path in NOTEBOOKS for cell in cells(path)]
    assert [name for name, times in Counter(found).items() if times > 1] == []
    assert {question["kind"] for question in ALL} == {"choose", "number", "order", "point"}
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


def _call(cell: NotebookNode) -> ast.Call:
    (call,) = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Expr)]
    assert isinstance(call.value, ast.Call)
    return call.value
