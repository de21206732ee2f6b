"""Sums up an autograded notebook for its student: points, what is right, what is not and why, what to fix first.

    autograded notebook with its scores --> exercises --> HTML at the top of the feedback page
    standings of all notebooks          --> index.html of the assignment

Everything is read from the notebook, whose outputs hold the messages, so the page that nbgrader makes is the same.
Every text that is not the grader's own is escaped by the templates.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]

from grader.classroom.gradebook.rules import after_penalty
from grader.classroom.page.exercises import exercises, fix_first, waits
from grader.classroom.page.numbers import side_by_side
from grader.text import plural

TEMPLATES = Path(__file__).with_name("templates")
OVERVIEW = "index.html"
"""The page that joins the notebooks of an assignment, in a student's folder of pages."""


@dataclass(frozen=True)
class Standing:
    """Points of one notebook: `score` out of `max_score` for what is marked, and how many points wait for a person.

    `penalty` has been subtracted from `score` for being late. `has_page` is false if the notebook could not be graded.
    """

    name: str
    score: float
    max_score: float
    waiting: float
    penalty: float = 0.0
    has_page: bool = True

    @classmethod
    def of(
        cls, name: str, cells: Iterable[dict[str, Any]], penalty: float = 0.0, *, has_page: bool = True
    ) -> "Standing":
        """Return the standing of a notebook.

        Args:
            name: the notebook's name.
            cells: what the gradebook has for its cells: score, points, needs_marking. Cells without points do not
                count, and those without a score wait for a person.
            penalty: the points subtracted for being late.
            has_page: whether the notebook was graded and has a page.
        """
        graded = [cell for cell in cells if "points" in cell]
        marked = [cell for cell in graded if not waits(cell)]
        total = sum(cell["score"] or 0.0 for cell in marked)
        waiting = sum(cell["points"] for cell in graded) - sum(cell["points"] for cell in marked)
        max_score = sum(cell["points"] for cell in marked)
        return cls(name, after_penalty(total, penalty), max_score, waiting, penalty, has_page)

    @property
    def text(self) -> str:
        """The points in words."""
        waiting = f"; {plural(self.waiting, 'point')} wait{'s' if self.waiting == 1 else ''} for marking"
        return f"{self.score:g} of {plural(self.max_score, 'point')}{waiting if self.waiting else ''}"


def _with_names(message: str) -> Markup:
    """A message of the grader as HTML: names between backticks are set as code."""
    parts = re.split(r"`([^`\n]+)`", message)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd % 2 else part for odd, part in enumerate(parts)
    )


def summary(notebook: NotebookNode, standing: Standing) -> str:
    """Return the summary of an autograded notebook as HTML.

    Args:
        notebook: the notebook, with scores in the metadata of its cells.
        standing: its points.
    """
    found = exercises(notebook)
    return _templates.get_template("summary.html.j2").render(
        standing=standing, exercises=found, fix_first=fix_first(found)
    )


def overview(assignment: str, standings: list[Standing]) -> str:
    """Return the page that joins the notebooks of an assignment, as HTML.

    Args:
        assignment: the assignment's name.
        standings: the points of its notebooks.
    """
    total = Standing(
        assignment,
        sum(standing.score for standing in standings),
        sum(standing.max_score for standing in standings),
        sum(standing.waiting for standing in standings),
        sum(standing.penalty for standing in standings),
    )
    page = _templates.get_template("overview.html.j2")
    return page.render(assignment=assignment, standings=standings, total=total, styles=styles())


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
