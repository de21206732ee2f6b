"""The feedback page of a real class begins with what a student wants to know, in any browser and without a network."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbconvert.filters import Highlight2HTML
from nbformat.v4 import new_output
from pygments.formatters import HtmlFormatter
from pygments.styles import get_style_by_name
from pygments.token import Whitespace

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page.exercises import exercises, fix_first
from grader.classroom.page.feedback import FeedbackExporter
from grader.classroom.page.formulas import mathml
from grader.classroom.page.summary import styles, unformatted, with_notice
from grader.engine.explanation import Cause, Explanation, Where
from grader.engine.notebook.cells import explain
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.axe import contrast, violations
from tests.support.notebooks import answer, answered, check, hidden, notebook, task, written
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, hand_in, make_class, released

STYLES = sorted((REPOSITORY / "tests/correct_answers").glob("*/*/right-*.py"))
CHECK = "# Run this cell: it checks your answer.\nassert right() == 1 < 2, 'right() is 1'"
HOSTILE = "<script>document.title=7</script><img src=x onerror=document.title=7>"


@pytest.fixture(scope="module")
def feedback(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a class in which fay's answer raises an error with markup and a long word in its text."""
    course = make_class(tmp_path_factory.mktemp("summary") / "course")
    raising = f"def one(x=1):\n    raise ValueError({HOSTILE + 'long' * 60!r})"
    formula = "$$" + "+".join(f"x_{{{number}}}^2" for number in range(40)) + "$$"
    hand_in(course, "fay", answered(released(course), **RIGHT | {"one": raising, "why": formula}))
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(course), NAME).outcomes())
    return course / "feedback"


def page(feedback: Path, student: str, name: str = "small") -> Tag:
    """A page, as a browser reads it."""
    return BeautifulSoup((feedback / student / NAME / f"{name}.html").read_text(), "html.parser").main


def words(part: Tag) -> str:
    """What a part of a page says."""
    return " ".join(part.get_text().split())


def rows(feedback: Path, student: str) -> dict[str, str]:
    """What the summary says of each exercise."""
    return {
        row.select_one(".name").get_text().strip(): words(row)
        for row in page(feedback, student).select(".exercises > li")
    }


def test_the_page_begins_with_the_points_of_what_is_marked(feedback: Path) -> None:
    """A written answer that waits for a person lowers nothing; an answer that is missing is out of its points.

    Each exercise has a sign, a word and its points, so it is read without colour; another page joins the notebooks.
    """
    assert (
        words(page(feedback, "ann").header)
        == "small 8 of 8 points 2 points wait for marking by a person and count later."
    )
    assert words(page(feedback, "eve").header) == "small 0 of 10 points"
    assert [row[:40] for row in rows(feedback, "ann").values()] == [
        "✓ right one 3 of 3",
        "✓ right two 5 of 5",
        "… waits for marking why 2 points",
    ]
    assert rows(feedback, "bob")["two"].startswith("◐ partly right two 2.5 of 5")
    assert rows(feedback, "bob")["why"].startswith("○ no answer yet why 0 of 2")
    assert rows(feedback, "eve")["one"].startswith("○ not written yet one 0 of 3")
    whole = page(feedback, "bob", "index")
    assert words(whole.header).startswith(f"{NAME} 5.5 of 10 points")
    assert [link["href"] for link in whole.find_all("a")] == ["small.html"]


def test_links_lead_to_a_place_on_the_page_and_a_cause_is_said_once_as_text(feedback: Path) -> None:
    """Links and ids agree, and no id occurs twice; neither a message nor the notebook holds an element of fay's.

    Two tests failed because one line of hers raises an error: the sentence is there once, and so is the property.
    """
    for student in ("ann", "bob", "cat", "fay"):
        whole = page(feedback, student)
        ids = [part["id"] for part in whole.find_all(id=True)]
        assert len(ids) == len(set(ids))
        links = {link["href"][1:] for link in whole.find_all("a", href=True) if link["href"].startswith("#")}
        assert links <= set(ids) and len(links) > 3
    assert whole.find_all(["script", "img"]) == [] and HOSTILE in words(whole)
    row = rows(feedback, "fay")["one"]
    assert row.startswith("✗ not right yet one 0 of 3") and row.count("Your code raised") == 1
    assert "So this does not hold: one(x) is x." in row and "Read again: Two exercises and a question" in row


def graded(check_: Explanation, test: Explanation) -> list[str]:
    """What to fix first in a notebook of two exercises, whose tests say this."""
    made = notebook(
        answer("one", "pass"),
        check("one-check", ""),
        answer("two", "pass"),
        hidden("two-test-a", "It holds.", ""),
        written("why", ""),
    )
    for cell in made.cells:
        cell.metadata.nbgrader.update(score=0.0)
    tests = {cell.metadata.nbgrader.grade_id: cell for cell in made.cells}
    explain(tests["one-check"], check_)
    explain(tests["two-test-a"], test)
    tests["two-test-a"].metadata.nbgrader.score = 1.0 if test.judged_with else 0.0
    found = fix_first(exercises(nbformat.from_dict(json.loads(json.dumps(made)))))
    return [
        f"{cause.exercise.name if cause.exercise else cause.sentence}: {[each.name for each in cause.affected]}"
        for cause in found
    ]


@pytest.mark.parametrize(
    ("explanation", "causes"),
    [
        (Explanation(judged_with=("one",)), ["one: ['two']"]),
        (Explanation(cause=Cause.NOT_WRITTEN, where=Where("one", 2, "raise NotImplementedError()")), ["one: ['two']"]),
        (Explanation(cause=Cause.NOT_WRITTEN, where=Where("two", 2, "raise NotImplementedError()")), []),
        (Explanation("It holds.", Cause.RAISED, error="ValueError", where=Where("two", 2, "x")), []),
    ],
)
def test_what_other_exercises_depend_on_is_to_be_fixed_first(explanation: Explanation, causes: list[str]) -> None:
    """An exercise that another one needs comes first; a mistake of its own does not."""
    assert graded(Explanation("", Cause.PROPERTY, "one() is 2"), explanation) == causes


def test_a_formula_is_drawn_or_shown_as_typed() -> None:
    """Only listed elements are written: no link, colour, command or macro of a submission."""
    assert mathml(r"\frac{a}{b}") == "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"
    assert mathml(r"\mathrm{softmax}(x)").startswith("<math><mrow><mi>softmax</mi>")
    assert mathml(r"\text{<img>}") == "<math><mtext>&lt;img&gt;</mtext></math>"
    for typed in (
        r"\href{javascript:1}{x}",
        r"\color{red}x",
        r"\hspace{-50em}x",
        r"\def\a{\a\a}\a",
        r"\unknown",
        "{" * 900,
        "x" * 1_001,
    ):
        assert mathml(typed) is None, typed


def test_every_formula_of_the_course_is_drawn() -> None:
    """None is left to be shown as TeX."""
    found, failed = 0, []
    for path in sorted((REPOSITORY / "source").glob("*/*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "markdown":
                text = re.sub(r"```.*?```|`[^`\n]*`", "", "".join(cell["source"]), flags=re.DOTALL)
                for block, line in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, re.DOTALL):
                    found += 1
                    failed += [block or line] if mathml(block or line, display=bool(block)) is None else []
    assert found > 1_000 and failed == []


@pytest.mark.slow
@needs_browser
def test_no_page_is_wider_than_the_window(feedback: Path, tmp_path: Path) -> None:
    """On a phone and on a screen, with a long word in a message and a long formula; a wider element is found."""
    wide = tmp_path / "wide.html"
    wide.write_text('<meta name="viewport" content="width=device-width"><p style="width: 2000px">wide</p>')
    with chromium() as browser:
        for width in (390, 1280):
            page = browser.new_page(viewport={"width": width, "height": 800})
            for file in (*(feedback / "fay" / NAME / f"{name}.html" for name in ("small", "index")), wide):
                page.goto(file.as_uri())
                whole, shown = page.locator("html").evaluate("(all) => [all.scrollWidth, all.clientWidth]")
                assert (whole > shown) == (file == wide) and shown > width - 40


MARKED = """**Half of it.** See `softmax`, [the notes](https://arxiv.org/abs/1706.03762) and $e^x$:

```python
# The sum over one sentence, not over the batch.
weights = scores.softmax(-1)
```

| yours | ours |
|---|---|
| 1 | 2 |

> A weight is a share."""


def marked_page() -> str:
    """A page handed in late, with a person's comments on all kinds of answers, colours in outputs and a table."""
    colours = "".join(f"\x1b[{code}mcolour {code}\x1b[0m " for code in (1, *range(31, 37), *range(91, 97)))
    graded = notebook(
        answer("two", 'def two():\n    # A comment, f"and {a} text".\n    return 2.0 + 1j  # lambda'),
        check("two-check", "@property\nclass Check: ...\nassert two() == 2, 'two() is 2'", points=2),
        written("why", MARKED, points=2),
        task("collect", MARKED),
    )
    graded.cells[0].outputs = [
        new_output("stream", text=colours),
        new_output("display_data", {"text/html": "<table><tr><td>1</td></tr></table>"}),
        new_output("error", ename="ValueError", evalue="no", traceback=[colours]),
    ]
    for cell in graded.cells:
        cell.metadata.nbgrader.update(score=1.0, points=2.0, comment=MARKED)
    header = {"notebook": "marked", "score": 2.0, "max_score": 6.0, "late_penalty": 1.0}
    return FeedbackExporter().from_notebook_node(graded, {"nbgrader": header})[0]


@pytest.mark.slow
@needs_browser
def test_axe_finds_nothing_on_a_page_of_any_kind(feedback: Path, tmp_path: Path) -> None:
    """Right, partly right, damaged, stopped, blank, raising, late with comments, too long for a page, outdated, and
    the overviews, in light and dark; and it finds what is wrong on a page that has no language and a pale text."""
    pages = {name: feedback / name / NAME / "small.html" for name in ("ann", "bob", "cat", "dan", "eve", "fay")}
    pages |= {f"overview of {name}": feedback / name / NAME / "index.html" for name in ("ann", "bob")}
    made = {
        "marked": marked_page(),
        "outdated": with_notice(pages["bob"].read_text(), is_outdated=True),
        "too long": unformatted("small", "3 of 8 points"),
        "wrong": '<title>wrong</title><p style="color: #aaa">pale</p>',
    }
    for name, text in made.items():
        pages[name] = tmp_path / f"{name}.html"
        pages[name].write_text(text)
    found = {}
    with chromium() as browser:
        page = browser.new_page()
        for name, path in pages.items():
            page.goto(path.as_uri())
            found[name] = violations(page)
    wrong = found.pop("wrong")
    assert [line.split(": ")[1] for line in wrong] == ["color-contrast", "html-has-lang"] * 2
    assert len(found) == 11 and found == dict.fromkeys(found, [])


@pytest.mark.parametrize(
    ("style", "grounds"),
    [
        ("default", ["#ffffff", "#f6f8fa"]),
        ("github-dark", ["#0d1117", "#161b22"]),
    ],
)
def test_every_colour_of_code_can_be_read(style: str, grounds: list[str]) -> None:
    """Comments, too: 4.5 to 1 on the page's ground and on that of code. White space has no ink."""
    sheet = styles()
    assert (
        all(ground in sheet for ground in grounds) and HtmlFormatter(style=style).get_style_defs(".highlight") in sheet
    )
    ratios = {
        (str(token), ground): contrast(f"#{look['color']}", f"#{look['bgcolor']}" if look["bgcolor"] else ground)
        for token, look in get_style_by_name(style)
        if look["color"] and token is not Whitespace
        for ground in grounds
    }
    assert len(ratios) > 60 and {key: ratio for key, ratio in ratios.items() if ratio < 4.5} == {}
    assert contrast("#ffffff", "#000000") == pytest.approx(21) and contrast("#bbbbbb", "#ffffff") < 2


def checked_page(*, is_folded: bool) -> str:
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
    html = checked_page(is_folded=is_folded)
    summary = "<summary><code># Run this cell: it checks your answer.</code></summary>"
    assert html.count("<details>") == html.count(summary) == html.count("</details>") == int(is_folded)
    code = html.partition(summary)[2].partition("</details>")[0] if is_folded else html
    assert "'right() is 1'" in code and "&lt;" in code


def test_a_page_needs_nothing_from_outside_for_its_looks() -> None:
    """It loads nothing, and defines every colour variable that it uses, although JupyterLab's are missing."""
    html = checked_page(is_folded=True)
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
