"""Sanitizes the HTML of a submission, so that no script of a student runs in another person's browser.

student's markdown -> nbconvert's HTML -> allowed tags and attributes only -> feedback and formgrader
student's outputs  -> allowed MIME types, HTML likewise                    -> autograded notebook
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
"""Classes of highlighted code and of the links beside headings. With any other class, an id or a name, a submission
could imitate a part of the page: the formgrader gives points for a click on anything with the class of its buttons."""
IMAGE_URLS = ("data:image/png;base64,", "data:image/jpeg;base64,")
IMAGE_DATA = re.compile(r"base64,[A-Za-z0-9+/=]*")
IMAGE_TYPES = ("image/png", "image/jpeg")

MAX_MARKDOWN, MAX_HTML, MAX_TAGS = 50_000, 100_000, 2_000
"""Largest cell and largest HTML, in characters and tags, that are rendered: for some texts, the time grows with the
square of the length. The data of images does not count."""
MAX_SPACES = 100

FORMULA = re.compile(r"\\\\[\[(]|\\begin\{")
MAX_FORMULAS = 200
"""How many formulas of these three kinds may begin in a cell: the rest of the cell is searched for the end of each."""

CHARACTER = re.compile("&(?!(?:amp|lt|gt|quot);)[^&;]+;")
DEFINITION = re.compile(
    r"\\(?=(?:g?def|global|let|(?:re)?new(?:command|environment)|DeclareMathOperator|Newextarrow|require)(?![a-zA-Z]))"
)
"""The backslash of a TeX command that would change all later formulas of the page, even those of a question."""
UNTYPESET = r"\\<span></span>"
"""Takes the place of such a backslash: MathJax finds no formula in text that a tag interrupts, and shows the source."""
FRAME = '<div style="overflow: auto hidden; position: relative">{}</div>'
"""Clips what TeX moves out of an answer: otherwise a box could cover the points on the page."""


def markdown(source: str) -> str:
    """Return markdown as sanitized HTML. Each text is rendered once, because most cells of a class are the same.

    Images that a student pasted into an additional cell are left out; repair puts those of an answer into its text.
    """
    if len(IMAGE_DATA.sub("", source)) > MAX_MARKDOWN:
        return verbatim(source)
    return _rendered_once(source) if len(source) <= MAX_MARKDOWN else _rendered(source)


@lru_cache(maxsize=512)
def _rendered_once(source: str) -> str:
    return _rendered(source)


def _rendered(source: str) -> str:
    if len(FORMULA.findall(source)) > MAX_FORMULAS:
        return verbatim(source)
    source = re.sub(rf" {{{MAX_SPACES},}}", " " * MAX_SPACES, source)
    return html(markdown2html_mistune(source.replace("(attachment:", "(")))


def html(text: str) -> str:
    """Return HTML with the tags and attributes that prose and images need, and no others."""
    if text.count("<") > MAX_TAGS or len(IMAGE_DATA.sub("", text)) > MAX_HTML:
        return verbatim(text)
    clean = bleach.clean(text, tags=TAGS, attributes=_is_allowed, protocols={"http", "https", "mailto", "data"})
    clean = CHARACTER.sub(lambda reference: escape(unescape(reference[0])), clean)
    return FRAME.format(DEFINITION.sub(UNTYPESET, clean)) if "\\" in clean else clean


def verbatim(text: str) -> str:
    """Return text as HTML that shows it exactly as it is."""
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
    return allowed | {kind: data[kind] for kind in IMAGE_TYPES if kind in data and _is_base64(data[kind])}


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_allowed(tag: str, name: str, value: str) -> bool:
    match tag, name:
        case "img", "src":
            return value.startswith(IMAGE_URLS)
        case "img", "alt" | "width" | "height":
            return True
        case "a", "href":
            return value.startswith(("#", "http://", "https://", "mailto:"))
        case _, "class":
            return CLASSES.fullmatch(value) is not None
    return name in ATTRIBUTES
