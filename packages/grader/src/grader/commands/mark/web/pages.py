"""Renders the pages of `grader mark`. What changes while a page is open is drawn by its script, from states."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from grader.classroom.page import sanitize
from grader.classroom.page.feedback import highlighted
from grader.classroom.page.summary import styles, templates
from grader.classroom.record.entry import Entry
from grader.commands.mark.marking import Progress
from grader.commands.mark.questions import Question
from grader.commands.mark.scheme import ReusableComment
from grader.commands.mark.web.access import Session
from grader.commands.mark.web.context import Place
from grader.text import plural

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class AnswerView:
    """A group of identical answers: its state, its sanitized HTML, and the students' names if they are shown."""

    state: dict[str, Any]
    html: str
    names: list[str]


@dataclass(frozen=True)
class QuestionView:
    """What the page of a question shows.

    Args:
        place: where the question is.
        question: the question.
        siblings: all questions of the assignment that there is something to mark of.
        answers: the answers.
        comments: comments that can be used again.
        revision: the number of the last change that the page shows.
        with_names: whether it shows the students' names.
    """

    place: Place
    question: Question
    siblings: list[Question]
    answers: list[AnswerView]
    comments: list[ReusableComment]
    revision: int
    with_names: bool


def path_of(place: Place) -> str:
    """Return the part of an address that names a question."""
    return "/".join(quote(name, safe="") for name in place)


def home_page(root: str, session: Session, assignments: list[str]) -> str:
    """Return the page with all assignments."""
    return _render("home.html.j2", root=root, session=session, title="Marking", assignments=assignments)


def assignment_page(
    root: str, session: Session, assignment: str, progress: list[Progress], requests: list[Entry]
) -> str:
    """Return the page with the questions of an assignment, and the open requests for a regrade."""
    return _render(
        "assignment.html.j2", root=root, session=session, title=f"Marking {assignment}", assignment=assignment,
        progress=progress, requests=requests, path_of=lambda question: path_of(Place(assignment, *question.name)),
    )  # fmt: skip


def question_page(root: str, session: Session, shown: QuestionView) -> str:
    """Return the page of a question."""
    names = [question.name for question in shown.siblings]
    here = names.index(shown.question.name) if shown.question.name in names else -1
    before = shown.siblings[here - 1 : here] if here > 0 else []
    after = shown.siblings[here + 1 : here + 2] if here >= 0 else []
    return _render(
        "question.html.j2", root=root, session=session, title=f"{shown.question.label}: {shown.place.assignment}",
        shown=shown, question=shown.question, address=f"{root}{path_of(shown.place)}",
        before=before, after=after, path_of=lambda each: path_of(Place(shown.place.assignment, *each.name)),
        states=_json([answer.state for answer in shown.answers]),
        comments=_json(msgspec.to_builtins(shown.comments)),
        suggested=_json([comment.text for comment in shown.question.suggested]),
    )  # fmt: skip


def error_page(root: str, why: str) -> str:
    """Return a page with the reason why a request is refused."""
    return _render("error.html.j2", root=root, title="Marking", why=why)


@cache
def static(name: str) -> str:
    """Return the script or the style sheet."""
    text = (TEMPLATES / name).read_text()
    return styles() + text if name.endswith(".css") else text


def _json(value: Any) -> Markup:
    """Return JSON that fits into an element of a page: nothing in it ends the element."""
    return Markup(json.dumps(value).replace("<", "\\u003c"))


def _ours(question: Question) -> Markup:
    """Return our answer as HTML."""
    return Markup(highlighted(question.ours) if question.is_code else sanitize.markdown(question.ours))


def _render(template: str, **values: Any) -> str:
    return _templates.get_template(template).render(**values)


_templates = templates(
    TEMPLATES,
    {
        "markdown": lambda text: Markup(sanitize.markdown(text)),
        "safe_html": Markup,
        "ours": _ours,
        "plural": plural,
    },
)
