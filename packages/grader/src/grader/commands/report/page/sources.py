"""Shows what students wrote as HTML: an example with colours, two answers side by side. All of it is a stranger's text.

source   --printable, cut--> highlighted HTML
Passage  --one_line-->       two blocks of lines; a matching line has the number of its partner, and is marked
"""

import re
from itertools import groupby

from markupsafe import Markup

from grader.classroom.page import sanitize
from grader.classroom.page.feedback import highlighted
from grader.commands.report.model import Passage
from grader.text import one_line, printable

MAX_SOURCE = 10_000
"""Characters of an answer that are shown. An answer has hundreds; a hostile one may have a million."""

HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)


def example(source: str) -> Markup:
    """Return a student's code as highlighted HTML."""
    left_out = "\n# … the rest is left out" if len(source) > MAX_SOURCE else ""
    return Markup(highlighted(printable(source, MAX_SOURCE) + left_out))


def prose(source: str) -> Markup:
    """Return markdown as sanitized HTML. Its headings are bold lines: they are no headings of this page."""
    return Markup(HEADING.sub(r"<p><strong>\1</strong></p>", sanitize.markdown(printable(source, len(source)))))


def side_by_side(passage: Passage) -> tuple[Markup, Markup]:
    """Return both answers of a passage as lines of text with numbers.

    A line that matches is marked, and its number is followed by that of its partner: `3 = 5`.
    """
    left_to_right = dict(passage.same)
    right_to_left = {right: left for left, right in passage.same}
    return _lines(passage.left, left_to_right), _lines(passage.right, right_to_left)


def _lines(lines: list[str], partners: dict[int, int]) -> Markup:
    shown = [(_line(number, text, partners), number in partners) for number, text in enumerate(lines)]
    blocks = Markup()
    for is_same, block in groupby(shown, key=lambda line: line[1]):
        text = "\n".join(line for line, _ in block)
        blocks += Markup("<mark>{}</mark>\n" if is_same else "{}\n").format(text)
    return blocks


def _line(number: int, text: str, partners: dict[int, int]) -> str:
    partner = f"= {partners[number] + 1:<3}" if number in partners else " " * 5
    return f"{number + 1:>3} {partner} {one_line(text)}".rstrip()
