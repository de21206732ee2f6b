"""Renders the report on a class as one self-contained HTML document, without a server, a network or other files.

    ClassReport --templates--> HTML with its style sheet, its script and its pictures inside

The page shows untrusted text of students. So the templates escape every text, code and markdown are sanitized, and a
Content-Security-Policy lets the browser run the page's own script only, by its hash.
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
"""Maximum characters of a text on the page: a name, a message, a reason."""
MAX_SOURCE = 10_000
"""Maximum characters of an answer on the page. An answer has hundreds; a hostile one may have a million."""

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
"""The ids and headings of the sections, in order."""

MINUS = "\N{MINUS SIGN}"


def page(report: ClassReport) -> str:
    """Return the report as an HTML document.

    Args:
        report: the report. Names are shown as stored, so an anonymous report gives an anonymous page.
    """
    style, script = styles() + (TEMPLATES / "report.css").read_text(), (TEMPLATES / "report.js").read_text()
    html = _templates.get_template("report.html.j2").render(
        report=report,
        class_summary=overview.class_summary(report),
        findings=list(overview.findings(report)),
        outstanding=overview.outstanding(report.tests),
        points=charts.point_columns(each.share for each in report.students if each.share is not None),
        hand_ins=charts.hand_in_columns(report),
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        titles=TITLES,
        counts={
            "class": len(report.students),
            **{name: len(getattr(report, name)) for name in ("tests", "mistakes", "groups", "pairs", "incidents")},
        },
        command=f"grader report {shlex.quote(printable(report.assignment))}",
    )
    # The name of a folder may contain lone surrogates, which UTF-8 cannot encode.
    return html.encode(errors="replace").decode()


def _policy(style: str, script: str) -> str:
    """The policy that allows only this style sheet, this script, and pictures inside the page."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _shown(value: Any) -> Any:
    """A value as the page shows it: texts are cut, and cannot reorder the text after them."""
    return value if isinstance(value, Markup | int | float) else printable(value, MAX_TEXT)


def _with_code(text: str) -> Markup:
    """A text as HTML, with names in backticks as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(printable(text, MAX_TEXT)))))


def _by(things: list[Any], attribute: str) -> Iterable[tuple[Any, list[Any]]]:
    """Things grouped by an attribute, in the order in which its values first occur."""
    groups: dict[Any, list[Any]] = {}
    for thing in things:
        groups.setdefault(getattr(thing, attribute), []).append(thing)
    return groups.items()


def _anchor(parts: list[str]) -> str:
    """An id made of texts. A number would move to a different thing when the report grows."""
    return "at-" + sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:12]


def _capital(text: str) -> str:
    """A text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


def _number(value: float | None, form: str = "g") -> str:
    """A number as text, `–` for None."""
    return "–" if value is None else format(value, form).replace("-", MINUS)


def example(source: str) -> Markup:
    """Return a student's code as highlighted HTML."""
    left_out = "\n# … the rest is left out" if len(source) > MAX_SOURCE else ""
    return Markup(highlighted(printable(source, MAX_SOURCE) + left_out))


def prose(source: str) -> Markup:
    """Return markdown as sanitized HTML. Its headings become bold lines, to keep the outline of the page."""
    return Markup(HEADING.sub(r"<p><strong>\1</strong></p>", sanitize.markdown(printable(source, len(source)))))


def side_by_side(passage: Passage) -> tuple[Markup, Markup]:
    """Return both answers of a passage as lines of text with numbers.

    A matching line is marked, and the number of its partner follows its own: `3 = 5`.
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
