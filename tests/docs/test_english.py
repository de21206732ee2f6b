"""The text of the repository keeps the rules of docs/style.md: none of the phrases that its readers stumbled over."""

from pathlib import Path

import nbformat
import pytest

from tests.support.english import Rule, all_complaints, complaints, prose_of, rules
from tests.support.notebooks import answer, check, hidden, notebook, text
from tests.support.paths import REPOSITORY


@pytest.mark.slow
def test_no_phrase_is_one_that_a_native_engineer_would_reword() -> None:
    """Neither a notebook nor a docstring, a comment, a message or a page has more of them than the rules keep."""
    assert all_complaints() == []


def test_a_phrase_is_found() -> None:
    """The test above can fail: each rule finds its example, and more phrases than are kept are named."""
    assert [rule.name for rule in rules() if not rule.found(rule.example)] == []
    assert {rule.where for rule in rules()} <= {"course", "pages", "everywhere"}
    [many] = complaints(Rule("grader", r"\bgrader\b", "nothing", "pages", "the grader"), [REPOSITORY / "README.md"])
    assert "kept 0); write nothing" in many


def test_all_prose_of_a_notebook_is_read_and_no_code(tmp_path: Path) -> None:
    """Text, docstrings, comments, messages with values in them, and alternative texts; no formula, no name, no link."""
    path = tmp_path / "small.ipynb"
    nbformat.write(
        notebook(
            text("Read $x_{glue}$ and `glue`, see [this page](https://glue.example).\n\n```\nglue\n```"),
            answer("one", 'def glue(x):\n    """Returns x, merged."""\n    return "glue", x["glue"]  # a reason'),
            check("one-check", 'assert glue(1), (\n    "Your output "\n    f"is {got:.2f}, too small")'),
            hidden("one-test-all", "It holds for all.", 'show(alt="two lines that cross")'),
        ),
        path,
    )
    found = [*prose_of(path)]
    assert ("one", "Returns x, merged.") in found and ("one", "# a reason") in found
    assert ("one-check", "Your output is {got}, too small") in found
    assert ("one-test-all", "# It holds for all.") in found
    assert ("one-test-all", "two lines that cross") in found
    assert not any("glue" in text for _, text in found)
