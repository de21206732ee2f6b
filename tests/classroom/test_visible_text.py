"""A reader sees every word of an answer, and MathJax sees no formula in it, whatever stands between the words."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_notebook

from grader.classroom.course_dir import CourseDir
from grader.classroom.page import sanitize
from tests.support.notebooks import answered, cell, text
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, released

SHOWN_ATTRIBUTES = {"alt", "href", "title"}
IGNORED_BY_MATHJAX = {"br", "wbr"}
"""Tags that do not interrupt a formula."""
HIDING = """<!-- --> <!--> <!DOCTYPE <!A> <![CDATA[ ]]> <? ?> <style> </style> <script> </script> <textarea> </textarea>
    <title> <xmp> <plaintext> <noscript> <template> <iframe> <select> <option> <svg> <math> <object> <details>
    <summary> </details> <p> </p> <div> <pre> <code> <table> <tr> <td> <ul> <b> </b> </p </ < > " ' = / >
    - # * `""".split()
HIDING += [
    *('<p title="', "<p title='", "<b ", "<b x", "<p\nx=' ", '<a href="x ', "<img alt=", "<div hidden"),
    *(
        '">',
        "'>",
        "/>",
        "\n",
        "\n\n",
        "```\n",
        "\n```python is ",
        "<details\nopen>",
        "<br/>",
        "&lt;!--",
        "&#60;style>",
        "<STYLE>",
    ),
]
"""Pieces that could make the rest of an answer disappear."""
TEX = [
    *("$", "$$", "\\", "\\\\", r"\$", r"\(", r"\)", r"\[", r"\]", r"\\(", r"\\)", r"\begin{x}", r"\end{x}"),
    *(r"\href{javascript:x}{y}", r"\class{full-credit}{x}", r"\cssId{a}{b}", r"\style{color:red}{x}", r"\def\a{b}"),
    *(r"\ref{x}", r"\text{$", r"\mbox{\(", r"\unicode{x}", "&#36;", "&dollar;", "&#x24;", "&bsol;", "&#92;", "&#92;("),
    *("<b>", "</b>", "<br>", "<!-- -->", "<p>", "<wbr>", "<code>", "x", "1", "{", "}", "^2", "_i", " ", "\n", "&", "<"),
]
"""Pieces of formulas, also coded as entities, and of what stands between them."""


class Page(HTMLParser):
    """Reads what is visible on a page: its text, with what a tag shows, and the parts that MathJax searches."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.searched = "", [""]
        self.closed_details = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add what an attribute shows."""
        if tag not in IGNORED_BY_MATHJAX:
            self.searched.append("")
        self.words += "".join(f" {value} " for name, value in attrs if name in SHOWN_ATTRIBUTES)
        self.closed_details += tag == "details" and "open" not in dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        """Begin another part."""
        self.searched.append("")

    def handle_data(self, data: str) -> None:
        """Add text."""
        self.words += data
        self.searched[-1] += data


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(pieces=st.lists(st.sampled_from(HIDING), max_size=8))
@example(pieces=["<!--"] * 50)
def test_every_word_of_an_answer_is_visible(pieces: list[str]) -> None:
    """Before, between and after pieces of comments, of elements that hide their content, and of tags without an end."""
    words = [f"word{number}" for number in range(len(pieces) + 1)]
    answer = words[0] + "".join(piece + word for piece, word in zip(pieces, words[1:], strict=True))
    page = Page(sanitize.markdown(answer))
    assert [word for word in words if not re.search(rf"{word}(?!\d)", page.words)] == []
    assert page.closed_details == 0


@pytest.mark.slow
@pytest.mark.parametrize("render", [sanitize.markdown, sanitize.html])
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(pieces=st.lists(st.sampled_from(TEX), max_size=10))
def test_mathjax_finds_no_formula(render: Callable[[str], str], pieces: list[str]) -> None:
    """Neither a dollar sign nor a backslash has a text behind it. The reader sees what the reader saw before."""
    shown = render("".join(pieces))
    if not shown.startswith("<pre>"):
        assert [part for part in Page(shown).searched if len(part) > 1 and re.search(r"[\\$]", part[:-1])] == []
    assert re.search(r"[\\$](?!<)", re.sub("<[^>]*>", "<>", shown)) is None or shown.startswith("<pre>")


def test_a_sign_is_shown_as_before() -> None:
    """The element behind it has no width, and no attribute gets one; a whole tag is a tag, and a comparison is none."""
    assert sanitize.markdown("x <b and c> d") == "<p>x &lt;b and c&gt; d</p>\n"
    assert sanitize.markdown("1 < 2 <b class=x>3</b> <br/>") == "<p>1 &lt; 2 <b>3</b> <br></p>\n"
    assert sanitize.html(r"5 $ or C:\x") == r"5 $<b></b> or C:\<b></b>x"
    assert sanitize.html(r'<p title="$\x">y</p>') == r'<p title="$\x">y</p>'
    assert Page(sanitize.markdown(r"&#36;\class{a}{b}&#36;")).words.strip() == r"$\class{a}{b}$"


@pytest.mark.parametrize("tex", [r"\text{\\(x\\)}", r"\text{a $ b $}", r"\mbox{\$\href{x}{y}\$}", r"\text{C:\\new}"])
def test_no_drawn_formula_holds_tex(tex: str) -> None:
    """It is shown as typed, or its text is interrupted: a question has a text with a letter between dollar signs."""
    shown = sanitize.markdown(f'<var title="inline formula: {tex}"></var>')
    assert ("<code>" in shown or "<mtext>" in shown) and not re.search(r"[\\$].", re.sub("<[^>]*>", "\n", shown))


def test_the_marker_and_the_student_see_the_whole_answer(tmp_path: Path) -> None:
    """On the formgrader's page and on the feedback page. Hints of the course stay folded, and its markers hidden."""
    folder, hint = make_course(tmp_path / "course"), "<details><summary>A hint</summary>seen by a click</details>"
    why = "It <!-- had\n\n<details>to <style> be <textarea> so."
    submission = answered(released(folder), **RIGHT | {"why": why})
    submission.cells.insert(0, text(hint))
    hand_in(folder, "ann", submission)
    grade_class(folder)
    feedback = (folder / "feedback" / "ann" / NAME / "small.html").read_text()
    marked = [cell(submission, "why"), text(f"{hint}\n\n<!-- BEGIN MARK SCHEME -->\nscheme\n<!-- END MARK SCHEME -->")]
    formgrader, _ = HTMLExporter(config=CourseDir(folder).config, template_name="classic").from_notebook_node(
        new_notebook(cells=marked)
    )
    for page in (feedback, formgrader):
        body = page.partition("<body")[2]
        assert all(word in body for word in ("&lt;!-- had", "to &lt;style&gt; be &lt;textarea&gt; so."))
        assert body.count('<details open="">') == 1 and body.count("<details><summary>A hint") == 1
    assert "scheme" in formgrader and "MARK SCHEME" not in formgrader
