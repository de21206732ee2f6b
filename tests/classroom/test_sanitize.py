"""HTML of a submission is harmless on a page, and rendering it takes little time."""

import re

from grader.classroom.page import sanitize
from grader.classroom.page.feedback import highlighted
from grader.engine.cpu_limit import cpu_limit


def test_a_pasted_picture_is_left_out() -> None:
    """Its data is an attachment of the cell; the rest of the cell is shown."""
    shown = sanitize.markdown("before ![image.png](attachment:image.png) after")
    assert "before" in shown and "after" in shown and "attachment" not in shown


def test_html_of_a_submission_cannot_pass_for_a_part_of_the_page() -> None:
    """The formgrader gives full credit when an element with its button's class is clicked, and finds cells by id."""
    cheat = (
        '<div class="nbgrader_cell"><span id="scale-check" name="cookie"><b class="full-credit fade">.</b></span></div>'
    )
    assert sanitize.html(cheat) == "<div><span><b>.</b></span></div>" and "class" not in sanitize.markdown(cheat)
    assert sanitize.html('<span class="kn">import</span>') == '<span class="kn">import</span>'


def test_a_formula_changes_no_other_formula_and_stays_in_its_cell() -> None:
    """A `\\def` could change the fractions of the question, and a raised box could cover points.

    A definition and whatever moves a formula are shown as typed, in every notation.
    """
    for typed in (
        r"$\def\frac#1#2{7}$",
        r"$$\renewcommand{\frac}[2]{7}$$",
        r"\begin{align}\let\frac\sqrt\end{align}",
        r"<b>&#36;&#92;&#100;ef&#92;frac{7}&#36;</b>",
        r"<b>&dollar;&bsol;&#x64;ef&dollar;</b>",
        r"$\smash{\raise 20em {\rule{50em}{9em}}}$",
    ):
        for shown in (sanitize.markdown(typed), sanitize.html(typed)):
            assert r"\<b></b>" in shown and not re.search(r"\\[a-z]|&#|&bsol", shown) and "<math>" not in shown
    assert "<math>" in sanitize.markdown(r"$\left( x \right)$")
    assert sanitize.html("1 &lt; 2 &amp;lt; &quot;3&quot;") == '1 &lt; 2 &amp;lt; "3"'


def test_text_that_takes_long_to_render_is_shown_as_text() -> None:
    """Thousands of spaces, of attributes in one tag, of unclosed formulas, and of lines with a single space.

    Nesting twenty thousand unclosed tags would take minutes. IPython's lexer starts its search for the end of a name at
    each dot, so long code goes through Python's.
    """
    with cpu_limit(1):
        assert highlighted("%" + "." * 19_000).count("<span") > 1
    assert sanitize.html("<b>bold</b>") == "<b>bold</b>"
    attributes = " ".join(f"a{number}=''" for number in range(27_000))
    with cpu_limit(10):
        for render, long in (("markdown", "<div>" * 9_000), ("markdown", "a" * 60_000), ("html", "<ul><li>" * 4_000)):
            shown = getattr(sanitize, render)(long)
            assert shown.startswith("<pre>") and "<div" not in shown
        assert sanitize.html(f"<b {attributes}>bold</b>").startswith("<pre>")
        assert "x" in sanitize.markdown("x" + " " * 40_000 + "x]")
        for begin in (r"\\(", r"\\[", r"\begin{a}"):
            assert sanitize.markdown(begin * (49_000 // len(begin))).startswith("<pre>")
            assert "x" in sanitize.markdown((begin + "x ") * 200 + " " * 40_000)
        assert "y" in highlighted(" \n" * 8_000 + "y = 2") and highlighted("a=1;" * 100_000).startswith("<pre>")
