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
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from grader.classroom.page import numbers
from grader.classroom.page.summary import styles, templates
from grader.commands.report.model import ClassReport
from grader.commands.report.page import charts, overview, sources, times
from grader.text import plural, printable

TEMPLATES = Path(__file__).with_name("templates")
MAX_TEXT = 4_000
"""Characters of a text that are shown: a name, a message, a reason."""

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


_templates = templates(
    TEMPLATES,
    {
        "anchor": _anchor,
        "bar": charts.bar,
        "by": _by,
        "capital": _capital,
        "chart": charts.chart,
        "counted": plural,
        "example": sources.example,
        "exercise_columns": charts.exercise_columns,
        "long_time": times.long_time,
        "mean": overview.mean,
        "number": _number,
        "number_tables": numbers.side_by_side,
        "prose": sources.prose,
        "quoted": shlex.quote,
        "remarks": overview.remarks,
        "row": overview.row,
        "sentence": overview.sentence,
        "short_time": times.short_time,
        "side_by_side": sources.side_by_side,
        "strip": charts.strip,
        "with_code": _with_code,
        "zip": zip,
    },
    finalize=_shown,
)
