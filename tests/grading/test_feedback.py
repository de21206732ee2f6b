"""The feedback page tells first what a student reads it for."""

import re
from pathlib import Path

import pytest
from nbconvert.filters import Highlight2HTML
from notebooks import answer, check, notebook

from course.grading.feedback import FeedbackExporter

STYLES = sorted((Path(__file__).parents[1] / "submissions").glob("*/*/right-*.py"))
CHECK = "# Run this cell: it checks your answer.\nassert right() == 1 < 2, 'right() is 1'"


def page(*, is_folded: bool) -> str:
    """The page of a notebook with one answer and its check."""
    cell = check("right-check", CHECK)
    if is_folded:
        cell.metadata["jupyter"] = {"source_hidden": True}
    made = notebook(answer("right", "def right():\n    return 1"), cell)
    for marked in made.cells:
        marked.metadata.nbgrader.update(score=1.0, points=1.0)
    header = {"notebook": "small", "score": 1.0, "max_score": 1.0, "late_penalty": 0.0}
    return FeedbackExporter().from_notebook_node(made, {"nbgrader": header})[0]


@pytest.mark.parametrize("is_folded", [True, False])
def test_the_code_of_a_check_is_folded_as_in_the_notebook(is_folded):
    """Its first line shows, and the rest with a click; what is not folded in the notebook stands open."""
    told = page(is_folded=is_folded)
    summary = "<summary><code># Run this cell: it checks your answer.</code></summary>"
    assert told.count("<details>") == told.count(summary) == told.count("</details>") == int(is_folded)
    code = told.partition(summary)[2].partition("</details>")[0] if is_folded else told
    assert "'right() is 1'" in code and "&lt;" in code


def test_formulas_stay_in_one_line():
    """The last word on it is ours: in the narrow column of a table MathJax would break them."""
    words = "".join(page(is_folded=True).split())
    assert words.rindex("linebreaks:{automatic:false}") > words.rindex("linebreaks:{automatic:true}")


def test_code_has_its_colours():
    """The page knows every colour that it asks for, and asks for some: JupyterLab's own are none of this page's."""
    told = page(is_folded=False)
    assert set(re.findall(r"var\((--[\w-]+)", told)) <= set(re.findall(r"(--[\w-]+):", told))
    assert re.search(r"\.highlight \.k { color: #\w+", told) and "summary { display: list-item" in told


def test_code_is_as_nbconvert_makes_it():
    """Answers in every style, what is no Python but IPython's own, and what is none at all."""
    ours, theirs = FeedbackExporter().environment.filters["highlight_code"], Highlight2HTML(pygments_lexer="ipython3")
    others = ["%%time\nx = 1", "%matplotlib inline", "!ls", "torch.ones?", "", "def <b>(", "\ufeffx = 'é'\r\n\tπ = $"]
    for source in (*others, *(style.read_text() for style in STYLES)):
        assert ours(source) == theirs(source)
