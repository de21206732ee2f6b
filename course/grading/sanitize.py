"""HTML of a submission made harmless: no script of a student runs in another person's browser.

student's markdown -> nbconvert's HTML -> allowed tags and attributes only -> feedback and formgrader
student's outputs  -> allowed kinds of data, HTML likewise                 -> autograded notebook
"""

import base64
import binascii
import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from typing import Any

import bleach
from nbconvert.filters import markdown2html_mistune

TAGS = frozenset(
    """a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p pre s
    samp small span strong sub summary sup table tbody td tfoot th thead tr tt u ul var""".split()
)
ATTRIBUTES = {"colspan", "rowspan", "title", "open", "start"}
CLASSES = re.compile(r"highlight|anchor-link|[a-z]{1,2}\d?")
"""Those of highlighted code and of links beside headings. By any other class, by id or by name a submission could be
taken for a part of the page: the formgrader gives points to what has the class of its buttons."""
PICTURES = ("data:image/png;base64,", "data:image/jpeg;base64,")
PICTURE = re.compile(r"base64,[A-Za-z0-9+/=]*")
IMAGES = ("image/png", "image/jpeg")

MAX_MARKDOWN, MAX_HTML, MAX_TAGS = 50_000, 100_000, 2_000
"""Characters of a cell and of an output, and tags of it, that are rendered: some take time by the square of their
number. Pictures are not counted."""
MAX_SPACES = 100

FORMULA = re.compile(r"\\\\[\[(]|\\begin\{")
MAX_FORMULAS = 200
"""How many formulas of these three kinds may begin in a cell: for each, all that follows is searched for its end."""

CHARACTER = re.compile("&(?!(?:amp|lt|gt|quot);)[^&;]+;")
DEFINITION = re.compile(
    r"\\(?=(?:g?def|global|let|(?:re)?new(?:command|environment)|DeclareMathOperator|Newextarrow|require)(?![a-zA-Z]))"
)
"""The begin of a TeX command that changes what all formulas behind it mean, also those of our question."""
UNTYPESET = r"\\<span></span>"
"""MathJax looks for formulas in text without tags: this one is shown as it was typed."""
FRAME = '<div style="overflow: auto hidden; position: relative">{}</div>'
"""What TeX moves out of it is not seen: a box could else lie over the points of the page."""


def markdown(source: str) -> str:
    """Markdown as harmless HTML. Most cells of a class are the same, so each text is rendered once.

    Pictures that were pasted into a cell of one's own are left out; repair puts those of an answer into its text.
    """
    if len(PICTURE.sub("", source)) > MAX_MARKDOWN:
        return as_it_is(source)
    return _rendered_once(source) if len(source) <= MAX_MARKDOWN else _rendered(source)


@lru_cache(maxsize=512)
def _rendered_once(source: str) -> str:
    return _rendered(source)


def _rendered(source: str) -> str:
    if len(FORMULA.findall(source)) > MAX_FORMULAS:
        return as_it_is(source)
    source = re.sub(rf" {{{MAX_SPACES},}}", " " * MAX_SPACES, source)
    return html(markdown2html_mistune(source.replace("(attachment:", "(")))


def html(text: str) -> str:
    """HTML with the tags and attributes that prose and our pictures need, and no others."""
    if text.count("<") > MAX_TAGS or len(PICTURE.sub("", text)) > MAX_HTML:
        return as_it_is(text)
    clean = bleach.clean(text, tags=TAGS, attributes=_is_allowed, protocols={"http", "https", "mailto", "data"})
    clean = CHARACTER.sub(lambda found: escape(unescape(found[0])), clean)
    return FRAME.format(DEFINITION.sub(UNTYPESET, clean)) if "\\" in clean else clean


def as_it_is(text: str) -> str:
    """Text as HTML that shows it, and no more."""
    return f"<pre>{escape(text)}</pre>"


def outputs(candidates: list[dict[str, Any]], *, render: Callable[[str], str] = html) -> list[dict[str, Any]]:
    """Outputs of a cell without the kinds of data that a browser would run; `render` makes harmless HTML of any."""
    return [
        {**output, "data": _harmless(output["data"], render)} if output["output_type"] == "display_data" else output
        for output in candidates
    ]


def _harmless(data: dict[str, str], render: Callable[[str], str]) -> dict[str, str]:
    kept = {"text/plain": data.get("text/plain", "")}
    if "text/html" in data:
        kept["text/html"] = render(data["text/html"])
    return kept | {kind: data[kind] for kind in IMAGES if kind in data and _is_base64(data[kind])}


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_allowed(tag: str, name: str, value: str) -> bool:
    match tag, name:
        case "img", "src":
            return value.startswith(PICTURES)
        case "img", "alt" | "width" | "height":
            return True
        case "a", "href":
            return value.startswith(("#", "http://", "https://", "mailto:"))
        case _, "class":
            return CLASSES.fullmatch(value) is not None
    return name in ATTRIBUTES
