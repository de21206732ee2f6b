"""Sanitizes the HTML of a submission, so that no script of a student runs in another person's browser.

student's markdown -> nbconvert's HTML -> allowed tags and attributes only -> formulas drawn -> feedback and formgrader
student's outputs  -> allowed MIME types, HTML likewise                    -> autograded notebook

Seconds, memory and the page are bounded for any text: one that could exceed the bounds is shown as typed.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from itertools import accumulate
from typing import Any

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from grader.classroom.page import formulas

TAGS = frozenset(
    """a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p pre s
    samp small span strong sub summary sup table tbody td tfoot th thead tr tt u ul var""".split()
)
HIDDEN = frozenset({"script", "style"})
"""Tags that are removed from outputs with their content; in an answer they are shown as typed."""
ATTRIBUTES = frozenset({"class", "colspan", "rowspan", "title", "open", "start"})
TAG_ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt", "width", "height"}}
CLASSES = re.compile(r"highlight|[a-z]{1,2}\d?")
"""Classes of highlighted code. With any other class, an id or a name, a submission could imitate a part of the page:
the formgrader gives points for a click on anything with the class of its buttons."""
IMAGE_TYPES = ("image/png", "image/jpeg")
IMAGE_URLS = tuple(f"data:{kind};base64," for kind in IMAGE_TYPES)
LINK_URLS = ("#", "http://", "https://", "mailto:")
BASE64 = re.compile(r"[A-Za-z0-9+/\s]*+=?=?\s*+")
LANGUAGES = {"python", "python3", "py", "ipython", "ipython3"}
"""Languages of code blocks that get colours. For others, their time may grow with the
square of the length: a cell of words takes a minute as Java."""

MAX_MARKDOWN, MAX_HTML, MAX_TAGS = 50_000, 100_000, 2_000
"""Largest cell and largest HTML, in characters and tags, that are rendered. The data of images does not count."""
MARKUP, MAX_SEARCHES = re.compile(r"[^\w\s]|[_\n]"), 3 * 10**7
"""Characters with a meaning in markdown, and how large their number times the length of the cell may be: from each of
them, the renderer may search the rest of the cell."""
ROW, MAX_ROW_SEARCHES = re.compile(r"^.*?\|", re.MULTILINE), 5 * 10**5
"""Rows of tables, and how large their number times that of vertical bars may be: from each row, the renderer may split
all following rows into cells."""
EMPHASIS, MAX_EMPHASIS = re.compile(r"[*_]+"), 800
"""Marks of emphasis, and how many there may be: each may be compared with everything since the first."""
MAX_GROWTH, MAX_NESTING = 10, 100
"""How many times longer than its source sanitized HTML may be, and how many tags may be open at a time."""
MAX_URL = 1_000
"""Longest URL of a link, in characters: a definition of a link in markdown can be used a thousand times."""

SPACES, KEPT_SPACES = re.compile(r"\s{100,}"), 50
DATA = re.compile(r";base64,([A-Za-z0-9+/=]{100,})")
DATA_NUMBER = re.compile(r";base64,(\d+)")

NAMES = rf"(?:{'|'.join(sorted(TAGS))})"
WORDS, WORD = r"""(?:"[^"<>]*+"|'[^'<>]*+')""", r"""(?:"[^\s"<>]*+"|'[^\s'<>]*+'|[^\s"'<>=`]++)"""
ATTRIBUTE = (
    rf"\s++(?:(?:open|scoped)(?![^\s/>])|(?:alt|class|style|title)\s*+=\s*+{WORDS}|[a-z][\w:-]*+\s*+=\s*+{WORD})"
)
NO_TAG = rf"<(?!/?{{names}}(?:{ATTRIBUTE})*+\s*+/?>)"
TYPED = re.compile(NO_TAG.format(names=NAMES), re.ASCII | re.IGNORECASE)
TYPED_IN_OUTPUT = re.compile(NO_TAG.format(names=rf"(?:{NAMES}|{'|'.join(sorted(HIDDEN))})"), re.ASCII | re.IGNORECASE)
"""A `<` that does not begin a whole tag that is allowed. It is shown as typed, so no rare element changes how the rest
is parsed, and no comment, declaration or attribute without an end hides the rest of an answer. In outputs, tags that
are left out count as allowed: a table of pandas begins with its style.

The value of an attribute has several words only where they are shown or usual, so no attribute swallows a sentence."""
MARKER = re.compile("<!-- (?:BEGIN|END) MARK SCHEME -->")
"""A comment of the course that is not shown. Above and below it, everything is."""
FORMATTING = re.compile(r"<(b|code|em|i|s|small|strong|tt|u)(?=[ \t\n\f\r/])[^>]*>?", re.ASCII | re.IGNORECASE)
"""A formatting tag with attributes. A browser opens all unclosed formatting tags again in each paragraph, but of those
that are the same, no more than three. Without attributes, they are the same."""
LINK = re.compile(
    rf"""<a(?=[ \t\n\f\r/])(?:[^>]*?\s(href\s*=\s*(["']?)[^\s"'<>]{{1,{MAX_URL}}}\2))?[^>]*>?""",
    re.ASCII | re.IGNORECASE,
)
"""A link with attributes. It is a formatting tag, too, but only one is open at a time, and it keeps its URL."""
NESTED_TAG = re.compile(r"<(/?)(?!br|hr|img)[a-z]")

FORMULA = re.compile(r'<var title="(block|inline) formula: ([^"]*)"></var>')
"""A placeholder for a formula until the HTML is clean. Neither a text nor an attribute of clean HTML can hold it:
one has no `<` and the other no quotation mark; whoever types it has typed a formula.

nh3 could filter MathML, too, but it removes tags and does not parse its result again, and inside MathML a removed tag
changes how a browser parses the rest: it makes `<math><mi><mglyph><none>` a `<mi><none>`, in which `none` is HTML.
Through such differences scripts have passed it where MathML was allowed (RUSTSEC-2025-0071, RUSTSEC-2026-0193)."""
MAX_TEX, MAX_MATHML = 10_000, 200_000
"""Characters of TeX in one text that are drawn, and of MathML that they may become; other formulas stay as typed."""

TEX = re.compile(r"""(<[^>"]*+(?:"[^"]*+"[^>"]*+)*+>)|[\\$](?!</m)""")
"""A tag, which is left as it is, or a sign with which TeX begins, unless an element of MathML ends behind it."""
UNTYPESET = "<b></b>"
"""Is put after a sign with which TeX begins. The reader sees nothing of it, and the formgrader's MathJax finds no
formula in text that a tag interrupts. Formulas are drawn here: MathJax would obey any command, and some change the
whole page."""


class Renderer(IPythonRenderer):
    """nbconvert's renderer, which draws formulas, has no pasted images and colours Python alone."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return an image with its alt text, without a search for its file. `title` is not shown."""
        return super(IPythonRenderer, self).image(text, url) if len(url) <= MAX_URL else text

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link. `title` is not shown."""
        return super().link(text, url) if len(url) <= MAX_URL else text

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a code block; `info` is the language, or a sentence that would be overlooked."""
        sentence = f"<p>{escape(info)}</p>" if info and " " in info.strip() else ""
        return sentence + super().block_code(code, "python" if info in LANGUAGES else None)

    def inline_math(self, body: str) -> str:
        """Return the placeholder of a formula in a line of text."""
        return _formula("inline", body)

    def block_math(self, body: str) -> str:
        """Return the placeholder of a formula on a line of its own."""
        return _formula("block", body)

    def latex_environment(self, name: str, body: str) -> str:
        """Return the placeholder of a formula that is an environment: a matrix, aligned equations."""
        return _formula("block", f"\\begin{{{name}}}{body}\\end{{{name}}}")


def _formula(kind: str, tex: str) -> str:
    return f'<var title="{kind} formula: {escape(tex)}"></var>'


_to_html = MarkdownWithMath(renderer=Renderer(escape=False, exclude_anchor_links=True)).render


def markdown(source: str, *, is_folded: bool = False) -> str:
    """Return markdown as sanitized HTML. Each text is rendered once, because most cells of a class are the same.

    Images that a student pasted into an additional cell are left out; repair inserts those of an answer into its text.

    Args:
        source: the markdown.
        is_folded: whether folded parts stay folded. In an answer, they would be overlooked.
    """
    return (_rendered_once if len(source) <= MAX_MARKDOWN else _rendered)(source, is_folded)


def _rendered(source: str, is_folded: bool) -> str:
    text, images = _without_images(MARKER.sub("", source))
    text = SPACES.sub(lambda spaces: spaces[0][:KEPT_SPACES] + spaces[0][-KEPT_SPACES:], text)
    try:
        shown = _sanitized(_to_html(text), len(text), TYPED) if is_quick(text) else None
    except RecursionError:
        # Hundreds of quotations and lists took turns.
        shown = None
    if shown is None:
        return verbatim(source)
    return _with_images(shown if is_folded else shown.replace("<details>", '<details open="">'), images)


_rendered_once = lru_cache(maxsize=512)(_rendered)


def is_quick(text: str) -> bool:
    """Return whether markdown is rendered in less than a second.

    Args:
        text: the markdown, without the data of its images.
    """
    return (
        len(text) <= MAX_MARKDOWN
        and len(text) * len(MARKUP.findall(text)) <= MAX_SEARCHES
        and len(EMPHASIS.findall(text)) <= MAX_EMPHASIS
        and text.count("|") * len(ROW.findall(text)) <= MAX_ROW_SEARCHES
    )


def html(text: str) -> str:
    """Return HTML with the tags and attributes that prose and images need, and no others."""
    short, images = _without_images(text)
    shown = _sanitized(short, len(short), TYPED_IN_OUTPUT)
    return verbatim(text) if shown is None else _with_images(shown, images)


def verbatim(text: str) -> str:
    """Return text as HTML that shows it unchanged."""
    return f"<pre>{escape(text)}</pre>"


def outputs(cell_outputs: list[dict[str, Any]], *, render: Callable[[str], str] = html) -> list[dict[str, Any]]:
    """Return the outputs of a cell without any data that a browser would run.

    Args:
        cell_outputs: nbformat outputs; they are not changed.
        render: turns any HTML into sanitized HTML.
    """
    return [
        {**output, "data": _allowed_data(output["data"], render)} if output["output_type"] == "display_data" else output
        for output in cell_outputs
    ]


def _allowed_data(data: dict[str, str], render: Callable[[str], str]) -> dict[str, str]:
    allowed = {"text/plain": data.get("text/plain", "")}
    if "text/html" in data:
        allowed["text/html"] = render(data["text/html"])
    return allowed | {kind: data[kind] for kind in IMAGE_TYPES if kind in data and BASE64.fullmatch(data[kind])}


def _without_images(text: str) -> tuple[str, list[str]]:
    """Replace the data of each image by a number; return the text and the data."""
    images: list[str] = []

    def number(data: re.Match[str]) -> str:
        images.append(data[1])
        return f";base64,{len(images) - 1}"

    return DATA.sub(number, text), images


def _with_images(text: str, images: list[str]) -> str:
    """Restore the data of each image, but only once: an image could be used a thousand times."""
    data = {str(number): image for number, image in enumerate(images)}
    return DATA_NUMBER.sub(lambda match: ";base64," + data.pop(match[1], match[1]), text) if images else text


def _sanitized(text: str, source_length: int, typed: re.Pattern[str]) -> str | None:
    """Sanitize HTML; return None if it exceeds the bounds. `typed` finds tags to show as typed."""
    if text.count("<") > MAX_TAGS or len(text) > MAX_HTML:
        return None
    text = LINK.sub(r"<a \1>", FORMATTING.sub(r"<\1>", typed.sub("&lt;", text)))
    # A screen reader would announce an empty cell as the heading of its column.
    clean = _untypeset(_cleaner.clean(text).replace("<th></th>", "<td></td>"))
    depths = accumulate(-1 if closing else 1 for closing in NESTED_TAG.findall(clean))
    if len(clean) > MAX_GROWTH * (source_length + 100) or max(depths, default=0) > MAX_NESTING:
        return None
    return _with_formulas(clean)


def _untypeset(clean: str) -> str:
    """Interrupt TeX in clean HTML, so that MathJax does not typeset it."""
    return TEX.sub(lambda found: found[1] or found[0] + UNTYPESET, clean)


def _with_formulas(clean: str) -> str:
    tex_left, mathml_left = MAX_TEX, MAX_MATHML

    def draw(formula: re.Match[str]) -> str:
        nonlocal tex_left, mathml_left
        is_block, tex = formula[1] == "block", unescape(formula[2])
        tex_left -= len(tex)
        shown = formulas.drawn(tex, display=is_block, as_typed=min(tex_left, mathml_left) < 0)
        mathml_left -= len(shown)
        return _untypeset(shown)

    return FORMULA.sub(draw, clean)


def _allowed_value(tag: str, name: str, value: str) -> str | None:
    match tag, name:
        case "img", "src":
            allowed = value.startswith(IMAGE_URLS)
        case "a", "href":
            allowed = value.startswith(LINK_URLS)
        case _, "class":
            allowed = CLASSES.fullmatch(value) is not None
        case _:
            allowed = True
    return value if allowed else None


_cleaner = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(HIDDEN),
    attributes={"*": set(ATTRIBUTES), **TAG_ATTRIBUTES},
    attribute_filter=_allowed_value,
    url_schemes={"http", "https", "mailto", "data"},
    link_rel=None,
)
