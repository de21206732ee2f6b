"""The feedback page shows first what a student reads it for."""

import re

import pytest
from nbconvert.filters import Highlight2HTML

from grader.classroom.page.feedback import FeedbackExporter
from tests.support.notebooks import answer, check, notebook
from tests.support.paths import REPOSITORY

STYLES = sorted((REPOSITORY / "tests/correct_answers").glob("*/*/right-*.py"))
CHECK = "# Run this cell: it checks your answer.\nassert right() == 1 < 2, 'right() is 1'"


def page(*, is_folded: bool) -> str:
    """Return the page of a notebook with one answer and its check."""
    cell = check("right-check", CHECK)
    if is_folded:
        cell.metadata["jupyter"] = {"source_hidden": True}
    graded = notebook(answer("right", "def right():\n    return 1"), cell)
    for each in graded.cells:
        each.metadata.nbgrader.update(score=1.0, points=1.0)
    header = {"notebook": "small", "score": 1.0, "max_score": 1.0, "late_penalty": 0.0}
    return FeedbackExporter().from_notebook_node(graded, {"nbgrader": header})[0]


@pytest.mark.parametrize("is_folded", [True, False])
def test_the_code_of_a_check_is_folded_as_in_the_notebook(is_folded: bool) -> None:
    """Its first line is shown, and a click shows the rest; a cell that is not folded in the notebook is open."""
    html = page(is_folded=is_folded)
    summary = "<summary><code># Run this cell: it checks your answer.</code></summary>"
    assert html.count("<details>") == html.count(summary) == html.count("</details>") == int(is_folded)
    code = html.partition(summary)[2].partition("</details>")[0] if is_folded else html
    assert "'right() is 1'" in code and "&lt;" in code


def test_a_page_needs_nothing_from_outside_for_its_looks() -> None:
    """It loads nothing, and defines every colour variable that it uses, although JupyterLab's are missing."""
    html = page(is_folded=True)
    assert set(re.findall(r"var\((--[\w-]+)", html)) <= set(re.findall(r"(--[\w-]+):", html))
    assert re.search(r"\.highlight \.k { color: #\w+", html) and "summary { display: list-item" in html
    assert not re.search(r"<(?:script|link|iframe)|\b(?:src|url)\s*[=(]|@import", html)


@pytest.mark.slow
def test_code_is_as_nbconvert_makes_it() -> None:
    """Answers in every style, code that only IPython understands, and text that is no code at all."""
    assert len(STYLES) > 200
    highlight, expected = (
        FeedbackExporter().environment.filters["highlight_code"],
        Highlight2HTML(pygments_lexer="ipython3"),
    )
    others = ["%%time\nx = 1", "%matplotlib inline", "!ls", "torch.ones?", "", "def <b>(", "\ufeffx = 'é'\r\n\tπ = $"]
    for source in (*others, *(style.read_text() for style in STYLES)):
        assert highlight(source) == expected(source)
