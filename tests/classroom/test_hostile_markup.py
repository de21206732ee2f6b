"""Whatever a student writes, its page costs less than a second and 20 MB, and holds allowed tags alone."""

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from typing import NamedTuple

import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from grader.classroom.page import formulas, sanitize
from grader.classroom.page.feedback import highlighted
from grader.engine.cpu_limit import cpu_limit
from tests.support.memory import peak, reset_peak
from tests.support.waiting import slowness

MAX_SECONDS, MAX_BYTES = 1, 20 * 2**20
VOID_TAGS = {"br", "hr", "img"}
MAX_FORMULAS = sanitize.MAX_MATHML + 50 * formulas.MAX_TEX
"""Characters of all formulas of a text: the last that is drawn may exceed what is left."""

FORMATTING = "b big code em font i nobr s small strike strong tt u".split()
MARKUP = [
    # Formatting that stays open, closes in the wrong order, or differs in an attribute: N is the number of the copy.
    *(f"<{tag}>" for tag in FORMATTING),
    *(f"<{tag} title='N'>x" for tag in FORMATTING),
    *"</b> </i> </p> </a> </table> </svg> <a\thref=#N> <a\tx=N> <font\taN=1> <B\tN> <b/N>x".split(" "),
    # Blocks, tables, and what holds no HTML.
    *"<p> <p>x <div> <li> <dd> <h1> <hr> <br> <pre> <details> <summary> <ul> <blockquote> <span\tclass=kn>".split(" "),
    *"<table> <caption> <tr> <td> <th>x <tbody> <object> <marquee> <template> <select> <option> <button>".split(" "),
    *"<svg> <math> <mi> <foreignObject> <title> <textarea> <plaintext> <xmp> <noscript> <iframe> <form>".split(" "),
    *"<script> </script> <style> </style> <!-- --> <!--> <![CDATA[ ]]> <? <!A> < > <eos> </x>".split(" "),
    *("<p title='", '<a href="', "<img src=", "javascript:x", " onclick=x", " aN=N", "'>", '">', "/>"),
    *"& &# &#0; &#60; &lt; &amp; &nbsp; &nGt; &notit; \0 \xa0 \u2028 \r é → x ' \"".split(" "),
    # TeX.
    *(r"\def", r"\let\a", "$", "$$", r"\\(", r"\\)", r"\\[", r"\\]", r"\begin{a}", r"\end{a}", r"\begin{"),
    # Markdown.
    *("[", "]", "![", "](", "](x)", "[a]", "[a]: x\n", "[a]: <", "[N]: x 't'\n"),
    *("*", "**", "_a ", "~~", "~", "`", "``"),
    *("```\n", "```python\n", "~~~\n", "> ", ">", ">x\n", "- ", "\n- ", "1. ", "\n1. x\n", "- [ ] ", "# ", "#", "=\n"),
    *("|", "|a|b|\n", "|-|-|\n", "a|b\n", ": ", "\n: x", "a\n", "\n", "\n\n", "  \n", "\\\n", "\\", "\t", " ", "    "),
    *("http://", "http://x.", "<http:", "<a@b", "@", ":", "{", "}", "(", ")", "word ", "x" * 50, "f'{", '"""', "1 "),
]


class Cost(NamedTuple):
    """What a call took: CPU seconds, and bytes of resident memory at its peak."""

    seconds: float
    memory: int


class Page(HTMLParser):
    """Reads sanitized HTML; `nesting` is how many tags were open at a time."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.nesting = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Compare a tag and its attributes with what is allowed."""
        if tag in formulas.ELEMENTS:
            # The grader draws formulas itself, and a student's own tags of this kind are shown as typed.
            assert all(name in {*formulas.ATTRIBUTES, "tabindex"} for name, _ in attrs)
            attrs = []
        else:
            assert tag in sanitize.TAGS
        for name, value in attrs:
            assert name in sanitize.ATTRIBUTES | sanitize.TAG_ATTRIBUTES.get(tag, set())
            assert name != "href" or (value or "").startswith(sanitize.LINK_URLS)
            assert name != "src" or (value or "").startswith(sanitize.IMAGE_URLS)
        if tag not in VOID_TAGS:
            self.open.append(tag)
            self.nesting = max(self.nesting, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        """Close the tag that was opened last: sanitized HTML is well-formed."""
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        """A comment is never left."""
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        """Neither is a declaration."""
        raise AssertionError(decl)


def rendered(render: Callable[[str], str], text: str, more_bytes: int = 0) -> tuple[str, Cost]:
    """The HTML of a text, which is checked, and what it took, which is within the bounds."""
    reset_peak()
    memory, seconds = peak(), time.process_time()
    shown = render(text)
    cost = Cost(time.process_time() - seconds, peak() - memory)
    assert len(shown) <= sanitize.MAX_GROWTH * (len(text) + 100) + MAX_FORMULAS
    assert Page(shown).nesting <= sanitize.MAX_NESTING + formulas.MAX_NESTING
    assert cost.seconds < MAX_SECONDS * slowness() and cost.memory < MAX_BYTES + more_bytes
    return shown, cost


def largest_html(text: str) -> str:
    """The longest beginning of a text that is rendered as HTML."""
    return "<".join(text[: sanitize.MAX_HTML].split("<")[: sanitize.MAX_TAGS + 1])


def largest_markdown(text: str) -> str:
    """The longest beginning of a text that is rendered as markdown."""
    shortest, longest = 0, min(len(text), sanitize.MAX_MARKDOWN)
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        shortest, longest = (middle, longest) if sanitize.is_quick(text[:middle]) else (shortest, middle - 1)
    return text[:shortest]


units = st.lists(st.sampled_from(MARKUP), min_size=1, max_size=5).map("".join)
runs = st.tuples(units, st.sampled_from([1, 3, 40, 300, 1_000, 3_000]))


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """A few pieces of markup, each in many copies; the last fills the largest text that is rendered."""
    beginning = "".join(
        unit.replace("N", str(number))
        for unit, copies in draw(st.lists(runs, max_size=3))
        for number in range(min(copies, 20_000 // len(unit)))
    )
    unit = draw(units)
    return beginning + unit.replace("N", "0") * (sanitize.MAX_HTML // len(unit))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("render", "largest"),
    [(sanitize.html, largest_html), (sanitize.markdown, largest_markdown)],
    ids=["html", "markdown"],
)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(text=hostile())
def test_hostile_markup_is_cheap_and_harmless(
    render: Callable[[str], str], largest: Callable[[str], str], text: str
) -> None:
    """Of any size, and of the largest size that is not shown as text."""
    for part in (text, largest(text)):
        _, cost = rendered(render, part)
    target(cost.seconds, label="seconds")
    target(float(cost.memory), label="bytes")


@pytest.mark.parametrize("start", ["", "<p>", "<table><td>", "<svg>", "<object>"])
@pytest.mark.parametrize(
    "tag", ["b title='{}'", "font a{}=1", "a x{}='{}'", "B\n{}", "i/{}", 'code title=">{}"', "u\0{}"]
)
def test_formatting_is_not_copied_into_each_paragraph(start: str, tag: str) -> None:
    """A browser opens unclosed formatting again in each paragraph: a thousand tags, a million copies in 17 kB."""
    text = start + "".join(f"<{tag.format(number, number)}>" for number in range(990)) + "<p>x" * 990
    for render in (sanitize.html, sanitize.markdown):
        rendered(render, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(r"\begin{a}" * 1_050, id="formulas without end"),
        pytest.param(r"\\[" * 780 + "a" * 10_400, id="display formulas without end"),
        pytest.param("@|a|b|\n|-|-|\n" * 800 + "a|b", id="too many tables"),
        pytest.param("@|a|b|\n|-|-|\n" * 150 + "a|b", id="many tables"),
        pytest.param("> " * 19 + "a\n" * 3_840, id="a nested quotation of many lines"),
        pytest.param(">a\n1. b\n" * 1_000, id="quotations and lists by turns"),
        pytest.param("*" * 21 + "a* " * 2_900, id="too much emphasis"),
        pytest.param("*" * 21 + "a* " * 790, id="much emphasis"),
        pytest.param(f"[a]: {'u' * 20_000}\n\n" + "[a] ![a] " * 190, id="a long URL in many places"),
        pytest.param(f"[a]: x '{'t' * 20_000}'\n\n" + "[a] ![a] " * 190, id="a long title in many places"),
        pytest.param(f"[a]: data:image/png;base64,{'u' * 90_000}\n\n" + "![a] " * 999, id="an image in many places"),
        pytest.param("```python\n" + "1\t" * 24_990, id="code of short words"),
        pytest.param("```java\n" + "a " * 24_990, id="code in another language"),
        pytest.param("\n" * 50_000 + "a\n \n" * 9_000, id="empty lines"),
        pytest.param("'" * 300_000, id="a long source"),
    ],
)
def test_the_most_expensive_markdown_is_cheap(text: str) -> None:
    """Each text made the renderer take seconds, tens of megabytes, or more levels than Python has."""
    rendered(sanitize.markdown, text)


def test_a_long_honest_answer_is_rendered() -> None:
    """Prose, two tables of thirty rows, formulas, lists, code, and a picture of megabytes; nothing is shown as text."""
    row = "| Adam | 0.001 | $\\beta_1 = 0.9$ | 87.5 % | converges after *12* epochs |\n"
    picture = "iVBORw0KGgo" * 200_000
    answer = (
        "Each row of weights sums to one; a larger temperature makes them more uniform, a smaller one sharper. " * 30
        + ("\n\n|a|b|c|d|e|\n|-|-|-|-|-|\n" + row * 30) * 2
        + "\n\n$$\\mathrm{softmax}\\left(\\frac{QK^\\top}{\\sqrt{d_k}}\\right)V = \\sum_{i=1}^{n} \\alpha_i v_i$$\n"
        * 12
        + "".join(f"\n{number}. **bold** with `code` and the <eos> token\n   - *item*" for number in range(20))
        + "\n\n```python\nscores = query @ key.transpose(-2, -1) / math.sqrt(size)\n```\n"
        + f"![plot](data:image/png;base64,{picture})\n"
    )
    shown, _ = rendered(sanitize.markdown, answer, 3 * len(answer))
    assert [shown.count(part) for part in ("<table>", "<li>", "&lt;eos&gt;", "<mi>softmax</mi>", picture)] == [
        2,
        40,
        20,
        12,
        1,
    ]


def test_script_and_style_are_left_out_of_outputs_and_other_tags_shown() -> None:
    """A table of pandas begins with its style; <eos> is a token, and no element. An answer is shown as typed.

    A pasted picture is left out, as its data is an attachment of the cell; the rest of the cell is shown.
    """
    shown = sanitize.markdown("before ![image.png](attachment:image.png) after")
    assert "before" in shown and "after" in shown and "attachment" not in shown
    table = (
        "<div>\n<style scoped>\n.dataframe th { color: red }\n</style><table><tbody><tr><td>1</td></tr></tbody></table>"
    )
    assert sanitize.html(table) == "<div>\n<table><tbody><tr><td>1</td></tr></tbody></table></div>"
    assert sanitize.html("<script>alert()</script><svg><eos></x>") == "&lt;svg&gt;&lt;eos&gt;&lt;/x&gt;"
    assert sanitize.markdown("<style>a</style>").strip() == "&lt;style&gt;a&lt;/style&gt;"
    assert sanitize.html('<a title="x" href="http://x/?a=1&amp;b=2">y</a>') == '<a href="http://x/?a=1&amp;b=2">y</a>'


def test_an_image_of_an_output_is_checked_in_linear_time() -> None:
    """It is kept if it is base64, and no character could leave its attribute."""
    images = {"image/png": "AAAA\n" * 400_000, "image/jpeg": " " * 400_000 + "!"}
    outputs = [{"output_type": "display_data", "data": {"text/plain": "x", "text/html": "<b>", **images}}]
    started = time.process_time()
    (shown,) = sanitize.outputs(outputs)
    assert shown["data"] == {"text/plain": "x", "text/html": "<b></b>", "image/png": images["image/png"]}
    assert time.process_time() - started < MAX_SECONDS * slowness()


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
