"""Draws TeX as MathML, which a browser shows without a script and without the network.

Formulas of a submission are untrusted, so only listed elements and attributes are written, and every text is escaped. A
formula that needs anything else, defines a command, is too long or is not TeX is shown as typed.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from html import escape, unescape
from unicodedata import lookup
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

ELEMENTS = frozenset(
    """math mfrac mi mmultiscripts mn mo mover mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr
    munder munderover none mprescripts""".split()
)
ATTRIBUTES = {
    name: re.compile(pattern)
    for names, pattern in (
        ("display", "inline|block"),
        ("accent accentunder displaystyle fence movablelimits separator stretchy symmetric", "true|false"),
        ("mathvariant", "normal"),
        ("columnalign rowalign", "(?:(?:left|center|right|top|bottom|baseline) ?)+"),
        ("columnlines rowlines", "(?:(?:none|solid|dashed) ?)+"),
        ("form", "prefix|infix|postfix"),
        ("linethickness", "0"),
        ("scriptlevel", r"\+?[0-3]"),
        ("width", r"[0-2](?:\.\d+)?em|negativethinmathspace"),
        ("lspace minsize maxsize rspace", r"[0-3]?(?:\.\d+)?em"),
    )
    for name in names.split()
}
"""Attributes and their values. None of them can colour a formula or move it far from its place."""
LEFT_OUT = {"xmlns", "columnspacing", "rowspacing"}
"""Attributes that the converter adds, and that browsers no longer need or know."""
ALIGNED = re.compile(r"(\\(?:begin|end)\{)(?:align|aligned|eqnarray\*?|equation|equation\*|split)\}")
"""Environments of aligned lines: the converter numbers the lines of some and does not know others. It has align*."""

ROW_GAP = re.compile(r"(?<=\\\\)\[[\d.]+(?:pt|em|ex|mm)\]")
"""The extra space below a row, `\\\\[4pt]`, which the converter would print."""

ALPHABETS = {
    "bold": "BOLD", "bold-italic": "BOLD ITALIC", "double-struck": "DOUBLE-STRUCK", "fraktur": "FRAKTUR",
    "italic": "ITALIC", "monospace": "MONOSPACE", "sans-serif": "SANS-SERIF", "script": "SCRIPT",
}  # fmt: skip
"""Values of `mathvariant` that browsers no longer know: such letters are characters of their own, with these names."""

DEFINING = re.compile(
    r"\\(?:[gex]?def|let|futurelet|providecommand|(?:re)?new(?:command|environment)|DeclareMathOperator)(?![a-zA-Z])"
)
TEX = re.compile(r"[\\$]")
MAX_TEX, MAX_NESTING = 1_000, 25
"""Longest formula in characters, and the number of elements that may be open at a time."""


class _NotAllowed(Exception):
    """The formula needs an element or an attribute that is not listed."""


def drawn(tex: str, *, display: bool = False, as_typed: bool = False) -> str:
    """Return a formula as MathML, or as HTML that shows it as typed if that is not possible.

    Args:
        tex: the formula without its delimiters.
        display: whether it has a line of its own.
        as_typed: whether to show it as typed in any case.
    """
    sign = "$$" if display else "$"
    return (not as_typed and mathml(tex, display=display)) or f"<code>{escape(f'{sign}{tex}{sign}')}</code>"


def mathml(tex: str, *, display: bool = False) -> str | None:
    """Return a formula as MathML; None if it cannot be drawn.

    Args:
        tex: the formula without its delimiters.
        display: whether it has a line of its own.
    """
    if len(tex) > MAX_TEX or DEFINING.search(tex):
        return None
    try:
        tree = convert_to_element(
            ALIGNED.sub(r"\1align*}", ROW_GAP.sub("", tex)), display="block" if display else "inline"
        )
        return "".join(_written(tree, MAX_NESTING))
    except Exception:  # whatever the converter raises for a text that is not TeX, and _NotAllowed
        return None


def _written(element: Element, nesting: int) -> Iterator[str]:
    tag, attributes = element.tag, dict(element.attrib)
    if tag not in ELEMENTS or not nesting:
        raise _NotAllowed(tag)
    if tag == "mrow" and not attributes and (len(element) == 1 or _is_word(element)):
        # Most formulas have rows around a single element. Neighbouring upright letters are one name: softmax.
        word = "".join(letter.text or "" for letter in element)
        yield from [f"<mi>{escape(word)}</mi>"] if len(element) > 1 else _written(element[0], nesting)
        return
    alphabet = ALPHABETS.get(attributes.get("mathvariant", ""))
    if alphabet:
        del attributes["mathvariant"]
    # The converter writes characters as references.
    text = unescape(element.text or "")
    if (text.startswith("\\") and len(text) > 1) or (tag == "mi" and text in "&\\" and text):
        raise _NotAllowed(text)  # a command or an environment that the converter does not know
    if len(text) > 1 and tag != "mtext" and TEX.search(text):
        raise _NotAllowed(text)  # only a text may be interrupted by a tag of HTML
    yield f"<{tag}{''.join(_attributes(attributes))}>"
    yield escape("".join(_letter(alphabet, character) for character in text) if alphabet else text)
    for child in element:
        yield from _written(child, nesting - 1)
    yield f"</{tag}>"


def _is_word(row: Element) -> bool:
    return len(row) > 1 and all(
        child.tag == "mi" and child.attrib == {"mathvariant": "normal"} and (child.text or "").isalnum()
        for child in row
    )


def _attributes(attributes: dict[str, str]) -> Iterator[str]:
    for name, value in attributes.items():
        if name in LEFT_OUT or (name, value) == ("display", "inline"):
            continue
        allowed = ATTRIBUTES.get(name)
        if allowed is None or not allowed.fullmatch(value):
            raise _NotAllowed(name)
        yield f' {name}="{value}"'
        if value == "block":
            yield ' tabindex="0"'  # a long formula can be scrolled on a phone and by keyboard


def _letter(alphabet: str, letter: str) -> str:
    """Return a letter A to Z or a to z in a different alphabet, if Unicode has it, and other characters unchanged."""
    if letter.isascii() and letter.isalpha():
        name = f"{alphabet} {'CAPITAL' if letter.isupper() else 'SMALL'} {letter.upper()}"
        for full_name in (f"MATHEMATICAL {name}", name):
            with suppress(KeyError):
                return lookup(full_name)
    return letter
