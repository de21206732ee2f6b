"""Sums up an autograded notebook for its student: points, the state of each exercise with reasons, and causes to fix.

    autograded notebook with its scores --> exercises --> HTML at the top of the feedback page
    scores of all notebooks             --> index.html of the assignment

Everything is read from the notebook, whose outputs hold the messages, so the page that nbgrader makes is the same.
Every text that is not the grader's own is escaped by the templates.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]

from grader.classroom.gradebook.rules import NotebookScore
from grader.classroom.page.exercises import anchor, exercises, fix_first
from grader.classroom.page.numbers import side_by_side
from grader.classroom.record.requests import Request
from grader.engine.notebook.cells import grade_id, repairs_of
from grader.text import plural
from grader_kernel.contract import MAX_REQUEST

TEMPLATES = Path(__file__).with_name("templates")
PLACE_OF_REQUESTS = "<!-- requests -->"
"""Where a page has room for them; students' text in a page holds no comments of HTML."""
OUTDATED = "Your teacher has changed this assignment since this was graded, so these points may still change."
PLACE_OF_NOTICE = re.compile(r"<!-- notice -->.*?<!-- end of notice -->", re.DOTALL)
"""Where a page says that it is outdated."""
OVERVIEW = "index.html"
"""The overview page of an assignment, in a student's folder of pages."""


def _with_names(message: str) -> Markup:
    """Return a message of the grader as HTML, with names between backticks as code."""
    parts = re.split(r"`([^`\n]+)`", message)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd % 2 else part for odd, part in enumerate(parts)
    )


def summary(notebook: NotebookNode, name: str, score: NotebookScore, file: str = "") -> str:
    """Return the summary of an autograded notebook as HTML.

    Args:
        notebook: the notebook, with scores in the metadata of its cells.
        name: its name.
        score: its points.
        file: the path of the submitted file if it has another name.
    """
    found = exercises(notebook)
    anchors = {grade_id(cell): anchor(cell) for cell in notebook.cells}
    repairs = [(each, anchors[each.cell]) for each in repairs_of(notebook) if each.is_about_text]
    page = _templates.get_template("summary.html.j2")
    return page.render(name=name, score=score, file=file, repairs=repairs, exercises=found, fix_first=fix_first(found))


def points_text(score: NotebookScore) -> str:
    """Return the points of a notebook as text."""
    waiting = f"; {plural(score.waiting, 'point')} wait{'s' if score.waiting == 1 else ''} for marking"
    return f"{score.marked:g} of {plural(score.max_marked, 'point')}{waiting if score.waiting else ''}"


def unformatted(name: str, points: str) -> str:
    """Return the page of a notebook that takes too long to be shown.

    Args:
        name: the notebook's name.
        points: its points, as text.
    """
    return _templates.get_template("unformatted.html.j2").render(title=name, points=points, styles=styles())


def overview(
    assignment: str,
    scores: Mapping[str, NotebookScore],
    pages: Collection[str],
    unread: Mapping[str, str] = MappingProxyType({}),
    extended_to: datetime | None = None,
) -> str:
    """Return the overview page of an assignment, as HTML.

    Args:
        assignment: the assignment's name.
        scores: the scores of its notebooks, with their cells.
        pages: the notebooks that were graded and have a page.
        unread: why others could not be read, for the student, as far as it is known.
        extended_to: the due date in UTC of a student with an extension.
    """
    page = _templates.get_template("overview.html.j2")
    ordered = dict(sorted(scores.items()))
    return page.render(
        title=assignment, scores=ordered, pages=pages, unread=unread, extended_to=extended_to, styles=styles()
    )


def with_notice(page: str, *, is_outdated: bool) -> str:
    """Return a page with the notice that its points are older than the assignment, or without it.

    Args:
        page: a page of a notebook, or the overview; one of an earlier version stays as it is.
        is_outdated: whether it is to have the notice.
    """
    notice = f'<p class="notice" role="note">{OUTDATED}</p>' if is_outdated else ""
    return PLACE_OF_NOTICE.sub(f"<!-- notice -->{notice}<!-- end of notice -->", page, count=1)


@dataclass(frozen=True)
class RequestForm:
    """A form for requests on the page of a notebook.

    Args:
        action: the address to which it is sent.
        key: the secret that comes back with it.
        exercises: the names of the exercises.
        text: what the student wrote already, and `exercise` about which one.
        exercise: the chosen exercise, or '' for the whole notebook.
        error: why what the student wrote was not sent.
        notice: a sentence about another hand-in of the notebook.
        link: the address of its page, or ''.
        link_text: what the link says.
    """

    action: str
    key: str
    exercises: Sequence[str]
    text: str = ""
    exercise: str = ""
    error: str = ""
    notice: str = ""
    link: str = ""
    link_text: str = ""


def with_requests(page: str, requests: Sequence[Request], form: RequestForm | None = None) -> str:
    """Return the page of a notebook with the student's requests for a regrade, and how to make one.

    Args:
        page: the page as it was made when the notebook was graded.
        requests: the student's requests about this notebook.
        form: how to make one on the page; without it, in the notebook.
    """
    shown = _templates.get_template("requests.html.j2").render(requests=requests, form=form, max_text=MAX_REQUEST)
    if PLACE_OF_REQUESTS in page:
        return page.replace(PLACE_OF_REQUESTS, shown, 1)
    before, end, after = page.rpartition("</main>")  # a page of an earlier version
    return f"{before}{shown}{end}{after}"


@lru_cache
def styles() -> str:
    """Return the style sheet of all pages: light, dark, print and phone."""
    light, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in ("default", "github-dark"))
    return (
        TEMPLATES / "page.css"
    ).read_text() + f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def templates(folder: Path, filters: dict[str, Callable[..., Any]], **options: Any) -> Environment:
    """Return the templates in a folder, in which every text is escaped and every name must be known.

    Args:
        folder: the folder.
        filters: filters beside jinja2's own.
        options: further options of jinja2.
    """
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
    environment.filters |= filters
    return environment


_templates = templates(TEMPLATES, {"counted": plural, "side_by_side": side_by_side, "with_names": _with_names})
