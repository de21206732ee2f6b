"""Hands a notebook in from one of its own cells, and shows the report below the cell.

    notebook's file --> the class's service: receipt, then report --+
                                                                    +--> exercises, sentences, attempts left
    notebook's file --> `grader check`, where source/ is at hand ---+

The address of the service and the student's token come from hand_in.toml or from the environment; on a JupyterHub, the
hub provides the token. The file is in the notebook's folder, in one above it, or in ~/.config, and is ignored if anyone
except the student and root may change it. A token is sent only to the address that it was configured with.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import HTML, display

from grader_kernel.contract import keep_check
from grader_kernel.owners import why_not_own

SETTINGS = "hand_in.toml"
"""The settings file of a class: `url`, and `token` where there is no hub."""
OPEN_NOTEBOOK = "JPY_SESSION_NAME", "__vsc_ipynb_file__"
"""Where to find the notebook of a kernel: an environment variable from Jupyter's server, a name from VS Code."""
WAIT, REQUEST_SECONDS, CHECK_SECONDS = 20, 60, 600
"""Timeouts in seconds: one poll for a report, one request, and grading on this computer."""
SHOWN = 3
"""Sentences of one exercise that are shown; the rest can be unfolded."""
STYLE = "border-left: 4px solid {}; padding: 0.2em 0.8em; margin: 0.5em 0"
GREEN, RED, GREY = "#2e7d32", "#c62828", "#757575"
COLOURS = {"good": GREEN, "part": "#b26a00", "bad": RED}
"""Readable on light and dark pages; signs and words carry the same information."""
STATES = {"waiting": "Waiting: number {place} in the queue …", "grading": "Your notebook is being graded …"}


class Problem(Exception):
    """The notebook could not be handed in; the message gives the reason and what to do."""


@dataclass(frozen=True)
class Service:
    """The address of the class's service, and the student's token."""

    url: str
    token: str

    def ask(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            path: the path below the address.
            data: the body; a request with a body is a POST.

        Raises:
            Problem: the service does not answer, or refuses; the message contains its reason.
        """
        request = urllib.request.Request(f"{self.url}/{path}", data, {"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.build_opener(_Staying).open(request, timeout=REQUEST_SECONDS) as answer:
                return _form(answer.read())
        except urllib.error.HTTPError as error:
            raise Problem(f"Not handed in: {_reason(error)}.") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise Problem(
                f"The service at {self.url} does not answer ({why}): try again, or ask your teacher."
            ) from None


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the token to another address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Refuse to redirect."""


def hand_in(notebook: str | os.PathLike[str] | None = None) -> None:
    """Hand in this notebook as it was last saved, wait for the report and show it.

    Without a service, grade it on this computer if it is in a course folder with `source/`.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    area = display(HTML(""), display_id=True)
    try:
        path = _notebook(notebook)
        content = path.read_bytes()
        saved = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
        notices = [f"{path.name}, as saved at {saved}. Later changes are not included: save them with Ctrl-S."]
        if not _holds_last_cell(content):
            notices.insert(0, "The cell that you ran last is not in the saved file. Did you save?")
        service = _service(path.parent)
        if service is None:
            area.update(_note("Your notebook is being graded on this computer …"))
            area.update(_shown(_graded_here(path), {}, notices))  # `grader check` keeps the points itself
        else:
            for state in _states(service, path, content):
                if state["state"] in STATES:
                    area.update(_note(STATES[state["state"]].format_map(state)))
            if state["state"] != "graded":
                raise Problem(_ended(state))
            report = state["report"]
            area.update(_shown(report, state, notices))
            keep_check(path, report["points"], report["max_points"])
    except Problem as problem:
        area.update(_note(str(problem), RED))
    except OSError as error:
        area.update(_note(f"The notebook cannot be read ({error}): save it, and run this cell again.", RED))


def _states(service: Service, path: Path, content: bytes) -> Iterator[dict[str, Any]]:
    """Hand a notebook in and yield its states, until it is graded or will not be."""
    state = service.ask(f"hand-in/{path.resolve().parent.name}/{path.stem}", content)
    yield state
    while state["state"] in STATES:
        state = service.ask(f"hand-in/{state['id']}?wait={WAIT}")
        yield state


def _ended(state: dict[str, Any]) -> str:
    """Return the reason why there is no report."""
    if state["state"] == "superseded":
        return "A newer version of this notebook was handed in meanwhile, and is graded in its place."
    return f"Not graded: {state.get('error', state['state'])}."


def _notebook(named: str | os.PathLike[str] | None) -> Path:
    shell = get_ipython()
    names = [named, os.environ.get(OPEN_NOTEBOOK[0]), shell and shell.user_ns.get(OPEN_NOTEBOOK[1])]
    for name in names:
        if name and (path := Path(name)).suffix == ".ipynb":
            if path.is_file():
                return path
            raise Problem(f"There is no file {path}: save the notebook, and run this cell again.")
    raise Problem('Which notebook is this? Jupyter does not say: run hand_in("NAME.ipynb") with the name of its file.')


def _holds_last_cell(content: bytes) -> bool:
    """Return whether the saved file holds the cell that ran before this one; true if unknown."""
    shell = get_ipython()
    ran = [text.strip() for text in shell.user_ns.get("In", [])[:-1] if text.strip()] if shell else []
    if not ran:
        return True
    cells = _form(content).get("cells", [])
    return ran[-1] in ("".join(cell.get("source", "")).strip() for cell in cells)


def _service(folder: Path) -> Service | None:
    """Return the class's service with the token for it; None if no settings name a service."""
    file, settings, refused = _settings(folder)
    own = os.environ.get("HAND_IN_URL")
    url = own or settings.get("url")
    if not url and refused:
        raise Problem(f"{refused}: copy it into a folder of your own, or run chmod go-w on it.")
    if not url:
        return None
    # The hub sets HAND_IN_URL along with its token. An address in a file proves nothing: other students' servers have
    # the hub's origin too, and the file may have come with the notebooks.
    tokens = (
        (os.environ.get("HAND_IN_TOKEN"), own),
        (settings.get("token"), settings.get("url", url)),
        (os.environ.get("JUPYTERHUB_API_TOKEN"), own),
    )
    token = next((token for token, place in tokens if token and place and _origin(place) == _origin(url)), None)
    if token is None:
        elsewhere = " A token of the environment, or of the hub, goes to the address in HAND_IN_URL only."
        raise Problem(
            f'You have no token for {url}: write the line token = "…" with yours into {file or SETTINGS}.'
            f"{elsewhere if any(token for token, _ in tokens) else ''}"
        )
    return Service(str(url).rstrip("/"), str(token))


def _settings(folder: Path) -> tuple[Path | None, dict[str, Any], str]:
    """Return the first settings file with its content, and why an earlier file is ignored, or ''."""
    refused = ""
    for place in (folder.resolve(), *folder.resolve().parents, Path.home() / ".config"):
        file = place / SETTINGS
        if not file.is_file():
            continue
        try:
            with file.open("rb") as opened:
                why = why_not_own(os.fstat(opened.fileno()))
                if not why:
                    return file, tomllib.load(opened), refused
        except ValueError as error:
            raise Problem(f"{file} cannot be read ({error}): get it again from your teacher.") from None
        except OSError as error:
            why = f"it cannot be read ({error.strerror})"
        refused = refused or f"{file} does not count, because {why}"
    return None, {}, refused


def _origin(url: object) -> str:
    """Return the scheme, host and port of an address, as written."""
    return "/".join(str(url).split("/", 3)[:3]).lower()


def _graded_here(path: Path) -> dict[str, Any]:
    """Return the report of `grader check` in the course folder above the notebook."""
    folders = path.resolve().parents
    course = next(
        (each for each in folders if (each / "source").is_dir() and (each / "nbgrader_config.py").exists()), None
    )
    if course is None or importlib.util.find_spec("grader") is None:
        raise Problem(
            f"There is no service to hand in to: ask your teacher for the file {SETTINGS}, and put it beside this "
            "notebook. If you learn alone, open the notebook in a folder of the whole course, which has source/."
        )
    command = [sys.executable, "-m", "grader", "check", str(path.resolve()), "--json"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)
    report = _form(done.stdout.encode())
    if not report:
        raise Problem(done.stderr.strip() or "grader check ended without a report: run it in a terminal.")
    return report


def _shown(report: dict[str, Any], state: dict[str, Any], notices: list[str]) -> HTML:
    """Return a report as HTML: points, then each exercise with its faults, and notices."""
    parts = [f"<p><strong>{report['points']:g} of {report['max_points']:g} points from tests</strong></p>"]
    parts += [_exercise_shown(exercise) for exercise in report.get("exercises", ())]
    if state.get("attempts_left") is not None:
        notices = [f"Attempts left: {state['attempts_left']}.", *notices]
    parts += [f"<p>{escape(notice)}</p>" for notice in notices]
    return HTML("".join(parts))


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


def _note(text: str, colour: str = GREY) -> HTML:
    return HTML(f'<div style="{STYLE.format(colour)}">{escape(text)}</div>')


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the reason why the service refuses."""
    text = _form(error.read()).get("error") or f"the service answered {error.code} {error.reason}"
    if 300 <= error.code < 400:
        text = f"the service is not at {error.url}, but says {error.headers.get('Location')}: ask your teacher"
    after = error.headers.get("Retry-After")
    return f"{text} (try again in {after} seconds)" if after else str(text)


def _form(content: bytes) -> dict[str, Any]:
    try:
        form = json.loads(content)
    except ValueError:
        return {}
    return form if isinstance(form, dict) else {}
