"""Shows reports, marks and requests as HTML below a cell.

report, marks, requests, as the service sends them --> HTML, readable on light and dark pages
"""

from contextlib import suppress
from datetime import datetime
from html import escape
from typing import Any

from IPython.display import HTML

SHOWN = 3
"""Sentences of one exercise that are shown; the rest can be unfolded."""
STYLE = "border-left: 4px solid {}; padding: 0.2em 0.8em; margin: 0.5em 0"
GREEN, RED, GREY = "#2e7d32", "#c62828", "#757575"
COLOURS = {"good": GREEN, "part": "#b26a00", "bad": RED}
"""Readable on light and dark pages; signs and words carry the same information."""


def report_shown(
    report: dict[str, Any],
    state: dict[str, Any],
    notices: list[str],
    address: str = "",
    feedback: dict[str, Any] | None = None,
) -> HTML:
    """Return a report as HTML: points, marks, then each exercise with its faults, and notices.

    Args:
        report: the report.
        state: the hand-in, {} for a notebook that was graded here.
        notices: further sentences.
        address: that of the service.
        feedback: what the service says about the notebook.
    """
    parts = [f"<p><strong>{report['points']:g} of {report['max_points']:g} points from tests</strong></p>"]
    if feedback:
        parts.append(marks_shown(address, feedback, state.get("unmarked", 0)))
    elif state.get("outdated"):
        notices = [state["outdated"], *notices]
    parts += [_exercise_shown(exercise) for exercise in report.get("exercises", ())]
    if state.get("attempts_left") is not None:
        notices = [f"Attempts left: {state['attempts_left']}.", *notices]
    # A note that went with an unchanged notebook is newer than what the service said of the notebook.
    parts += map(request_shown, (feedback or state).get("requests", ()))
    parts += [f"<p>{escape(notice)}</p>" for notice in notices]
    return HTML("".join(parts))


def returned_shown(address: str, feedback: dict[str, Any]) -> HTML:
    """Return as HTML what a student has back before the button is pressed; empty if that is nothing."""
    answered = [request for request in feedback["requests"] if request["answer"]]
    if not (feedback["marks"] or answered):
        return HTML("")
    return HTML(marks_shown(address, feedback) + "".join(map(request_shown, answered)))


def marks_shown(address: str, feedback: dict[str, Any], unmarked: float = 0) -> str:
    """Return the marks of a person as HTML, and the link to the page.

    Args:
        address: that of the service.
        feedback: what it says about the notebook.
        unmarked: the points that no test gives.
    """
    marks, link, lines = feedback["marks"], feedback["link"], []
    if marks:
        waiting = f", and {_points(marks['waiting'])} wait for marking" if marks["waiting"] else ""
        lines.append(
            f"<strong>Marked: {marks['points']:g} of {_points(marks['max_points'])}</strong>{waiting}, as returned at "
            f"{local_time(marks['returned'])}."
        )
        if marks["is_older"] and (feedback["hand_in"] or {}).get("counts") is False:
            lines.append("This hand-in does not count: the marks are those of an earlier one.")
        elif marks["is_older"]:
            lines.append("Your newest hand-in is not in these marks yet.")
    elif unmarked:
        lines.append(
            f"Answers worth another {_points(unmarked)} are marked by a person, and your teacher returns the marks."
        )
    if link:
        place = link if link.startswith(("/", "http://", "https://")) else f"{address}/{link}"
        minutes = feedback["link_seconds"] // 60
        lines.append(
            f'<a href="{escape(place)}" target="_blank" rel="noopener noreferrer">Open the page with all comments</a> '
            f"(the link works once, within {minutes} minutes; for a new one, run "
            "<code>from grader_kernel import feedback; feedback()</code>)."
        )
    if feedback.get("outdated"):
        lines.append(escape(feedback["outdated"]))
    return f'<div style="{STYLE.format(GREEN if marks else GREY)}">{" ".join(lines)}</div>' if lines else ""


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"


def local_time(text: str) -> str:
    """Return a time of the service as it is on the student's clock."""
    with suppress(ValueError):
        return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M}"
    return text


def _exercise_shown(exercise: dict[str, Any]) -> str:
    state = exercise["state"]
    lines = [f"<p>{escape(exercise['diagnosis'])}</p>"] if exercise["diagnosis"] else []
    for reason in exercise["reasons"]:
        claims = "".join(f"<li>{escape(claim)}</li>" for claim in reason.get("claims", ()))
        lines.append(f"<p>{escape(reason['sentence'])}</p>" + (f"<ul>{claims}</ul>" if claims else ""))
    if len(lines) > SHOWN:
        more = "".join(lines[SHOWN:])
        lines[SHOWN:] = [f"<details><summary>Show {len(lines) - SHOWN} more</summary>{more}</details>"]
    head = f"{escape(state['sign'])} <strong>{escape(exercise['exercise'])}</strong>: {escape(state['word'])}, "
    head += f"{exercise['points']:g} of {exercise['max_points']:g} points"
    return f'<div style="{STYLE.format(COLOURS.get(state["style"], GREY))}">{head}{"".join(lines)}</div>'


def request_shown(request: dict[str, Any]) -> str:
    answer, about = request["answer"], f" about {request['exercise']}" if request["exercise"] else ""
    lines = [f"<p>You asked{escape(about)}: {escape(request['text'])}</p>"]
    if answer is None:
        lines.append("<p>No answer yet.</p>")
    else:
        points = "" if answer["after"] is None else f" ({answer['after']:g} points)"
        if None not in (answer["before"], answer["after"]) and answer["before"] != answer["after"]:
            points = f" ({answer['before']:g} → {answer['after']:g} points)"
        lines.append(f"<p><strong>Answer</strong>{points}: {escape(answer['text'])}</p>")
    return f'<div style="{STYLE.format(GREY)}">{"".join(lines)}</div>'


def note_shown(text: str, colour: str = GREY) -> HTML:
    line = " ".join(text.split())  # the reason for a failure may have several
    return HTML(f'<div style="{STYLE.format(colour)}">{escape(line)}</div>')
