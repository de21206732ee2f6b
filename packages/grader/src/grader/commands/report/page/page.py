"""Renders the report on a class as one HTML document that needs no server, no network and no other file.

    ClassReport --templates--> HTML with its style sheet, its script and its pictures inside

The page holds what students wrote. So the templates escape every text, code and markdown are sanitized, and a
Content-Security-Policy lets the browser run the page's own script and no other, by its hash.
"""

import re
import shlex
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from grader.classroom.page import numbers, sanitize
from grader.classroom.page.feedback import highlighted
from grader.classroom.page.summary import styles, templates
from grader.commands.report.model import ClassReport, Passage
from grader.commands.report.page import charts, overview
from grader.text import one_line, plural, printable

TEMPLATES = Path(__file__).with_name("templates")
MAX_TEXT = 4_000
"""Characters of a text that are shown: a name, a message, a reason."""
MAX_SOURCE = 10_000
"""Characters of an answer that are shown. An answer has hundreds; a hostile one may have a million."""

HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)

TITLES = {
    "glance": "At a glance",
    "points": "Points",
    "tests": "Tests",
    "mistakes": "Known mistakes",
    "groups": "Mistakes without a name",
    "lecture": "For the next lecture",
    "pairs": "Similar work",
    "incidents": "Incidents",
    "class": "The class",
}
"""The sections in order: their ids and headings."""

MINUS = "\N{MINUS SIGN}"


def page(report: ClassReport) -> str:
    """Return the report as an HTML document.

    Args:
        report: the report. Names are shown as they are in it, so an anonymous report gives an anonymous page.
    """
    style, script = styles() + (TEMPLATES / "report.css").read_text(), (TEMPLATES / "report.js").read_text()
    html = _templates.get_template("report.html.j2").render(
        report=report,
        class_summary=overview.class_summary(report),
        half=overview.half(report.students),
        max_points=overview.max_points(report.students),
        findings=list(overview.findings(report)),
        outstanding=overview.outstanding(report.tests),
        points=charts.point_columns(map(overview.share, report.students)),
        hand_ins=charts.hand_in_columns(report),
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        titles=TITLES,
        counts=_counts(report),
        command=f"grader report {shlex.quote(printable(report.assignment))}",
    )
    # A folder's name may hold halves of surrogate pairs, which no file can.
    return html.encode(errors="replace").decode()


def _counts(report: ClassReport) -> dict[str, int]:
    """How many things a section has, for the table of contents."""
    return {
        "tests": len(report.tests),
        "mistakes": len(report.mistakes),
        "groups": len(report.groups),
        "pairs": len(report.pairs),
        "incidents": len(report.incidents),
        "class": len(report.students),
    }


def _policy(style: str, script: str) -> str:
    """The policy that allows this style sheet and this script alone, and pictures inside the page."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _shown(value: Any) -> Any:
    """A value as the page shows it: no text is long or reorders the text after it."""
    return value if isinstance(value, Markup | int | float) else printable(value, MAX_TEXT)


def _with_code(text: str) -> Markup:
    """Text as HTML, with names between backticks set as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(printable(text, MAX_TEXT)))))


def _by(things: list[Any], attribute: str) -> Iterable[tuple[Any, list[Any]]]:
    """Things with one value of an attribute together, in the order in which the values first occur."""
    groups: dict[Any, list[Any]] = {}
    for thing in things:
        groups.setdefault(getattr(thing, attribute), []).append(thing)
    return groups.items()


def _anchor(parts: list[str]) -> str:
    """An id made of texts. A number would be another thing's as soon as the report has one thing more."""
    return "at-" + sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:12]


def _capital(text: str) -> str:
    """Text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _number(value: float | None, form: str = "g") -> str:
    """A number as text; `–` if there is none."""
    return "–" if value is None else format(value, form).replace("-", MINUS)


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


_templates = templates(
    TEMPLATES,
    {
        "anchor": _anchor,
        "bar": charts.bar,
        "by": _by,
        "capital": _capital,
        "chart": charts.chart,
        "counted": plural,
        "example": example,
        "exercise_columns": charts.exercise_columns,
        "long_time": overview.long_time,
        "mean": overview.mean,
        "number": _number,
        "number_tables": numbers.side_by_side,
        "prose": prose,
        "quoted": shlex.quote,
        "remarks": overview.remarks,
        "row": overview.row,
        "sentence": overview.sentence,
        "short_time": overview.short_time,
        "side_by_side": side_by_side,
        "strip": charts.strip,
        "with_code": _with_code,
        "zip": zip,
    },
    finalize=_shown,
)
