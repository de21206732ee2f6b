"""Makes comments that can be used again of a marking scheme: what a sentence gives points for, and common mistakes.

    One point for the two parts: the encoder ...; half for one of them. Common wrong answers: "an autoencoder" (no ...
        --> The two parts (1), one of them (0.5), A common mistake: "an autoencoder"

A scheme is prose, so this finds what it can and nothing else depends on it: the scheme itself is beside the answers.
"""

import re
from collections.abc import Iterator

import msgspec

MAX_TEXT = 160
"""Longest text of a comment made of a scheme; what is longer is cut at a word."""
MAX_COMMENTS = 20
NUMBERS = {"half": 0.5, "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
POINTS = rf"(?:(?:{'|'.join(NUMBERS)}|\d+(?:[.,]\d+)?|½)(?:\s+of)?(?:\s+(?:an?|the))?(?:\s+\w+)?\s+points?"
SHORT = r"(?:(?<=, )|(?<=; )|(?<=\band ))(?:half|one|two)"
"""What a sentence says after it said `point` once: `one point for X, half for Y`."""
AWARD = re.compile(rf"(?P<number>\b{POINTS})|{SHORT})\s+(?:each\s+)?(?:for|if|when)\s+(?P<what>[^;]+)", re.IGNORECASE)
"""`one point for X`, `half for X`, `2 points if X`: up to the end of a clause."""
END = re.compile(rf"[:.?!](?:\s|$)|;|(?:,| and)\s+(?={POINTS}|(?:half|one|two))\s+(?:for|if)\b)", re.IGNORECASE)
MISTAKES = re.compile(r"[*\s]*common (?:wrong answers|mistakes)[:*\s]+", re.IGNORECASE)
PART = re.compile(r"\(?(\d{1,2}|[a-h])\)?(?=$|,)")
"""The name of a part of a question: `1`, `(a)`."""


class ReusableComment(msgspec.Struct, frozen=True):
    """A comment that can be given to many answers, with the points that it is worth; None if it is words only."""

    text: str
    points: float | None = None


def comments_of(scheme: str) -> list[ReusableComment]:
    """Return the comments that a marking scheme suggests, in its order.

    Args:
        scheme: its text, in Markdown.
    """
    found = [each for line in _unwrapped(scheme) for each in _of_line(line)]
    return list({each.text: each for each in found}.values())[:MAX_COMMENTS]


def _unwrapped(text: str) -> list[str]:
    """Return the lines of a text, with those joined that an editor broke inside of a sentence."""
    lines = [""]
    for line in map(str.strip, text.splitlines()):
        is_new = not line or not lines[-1] or lines[-1].endswith((".", ":", "*", ")")) or line.startswith(("-", "*"))
        lines[-1:] = [lines[-1], line] if is_new else [f"{lines[-1]} {line}"]
    return lines


def _of_line(line: str) -> Iterator[ReusableComment]:
    if mistakes := MISTAKES.match(line):
        for item in _items(line[mistakes.end() :]):
            if text := _cut(re.split(r"\s+\(", item)[0]):
                yield ReusableComment(f"A common mistake: {text}")
        return
    place = 0
    while award := AWARD.search(line, place):
        what = award["what"]
        end = _end_of(what)
        place = award.start("what") + max(1, end)
        head, tail = what[:end].strip(" ,"), what[end + 1 :].strip()
        if part := PART.match(head):
            head = (
                f"part {head}"
                if part.end() < len(head) or not tail
                else f"part {head}: {tail[: _end_of(tail)].strip()}"
            )
        if text := _cut(head):
            yield ReusableComment(text[0].upper() + text[1:], _number(award["number"]))


def _end_of(text: str) -> int:
    """Return where the first clause of a text ends, outside of brackets."""
    for end in END.finditer(text):
        before = text[: end.start()]
        if before.count("(") <= before.count(")") and before.count("{") <= before.count("}"):
            return end.start()
    return len(text)


def _items(text: str) -> list[str]:
    """Return the parts of a list with semicolons, which do not count inside of brackets."""
    items, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character == "(") - (character == ")"))
        if character == ";" and not depth:
            items.append("")
        else:
            items[-1] += character
    return [item.strip(" .") for item in items]


def _number(text: str) -> float:
    first = text.split()[0].lower()
    return 0.5 if first == "½" else NUMBERS.get(first) or float(first.replace(",", "."))


def _cut(text: str) -> str:
    text = " ".join(text.replace("**", "").split())
    text = text.rstrip(")") if text.count(")") > text.count("(") else text
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT].rsplit(" ", 1)[0] + " …"
