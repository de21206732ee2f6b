"""Hands a notebook in with a button below one of its own cells, and shows the report there.

               +--> the class's service: receipt, then report --+
    button ----+                                                +--> exercises, sentences, marks, link to the page
               +--> `grader check`, where source/ is at hand ---+

"Run All" shows the button and hands nothing in: an attempt is used when a person decides.

service.py finds the class's service and talks to it.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import ipywidgets
from IPython.core.getipython import get_ipython
from IPython.display import HTML, DisplayHandle, display

from grader_kernel.contract import MAX_REQUEST, TOO_LONG, keep_check
from grader_kernel.report_html import (
    GREEN,
    RED,
    local_time,
    marks_shown,
    note_shown,
    report_shown,
    request_shown,
    returned_shown,
)
from grader_kernel.service import SETTINGS, Late, Problem, Service, form_of, service_of

OPEN_NOTEBOOK = "JPY_SESSION_NAME", "__vsc_ipynb_file__"
"""Where to find the notebook of a kernel: an environment variable from Jupyter's server, a name from VS Code."""
WAIT, LABEL_SECONDS, CHECK_SECONDS = 20, 5, 600
"""Timeouts in seconds: one poll for a report, one request for the text of the button, and grading here."""
NO_BUTTON = "This program shows no button: run hand_in(now=True) to hand in."
STATES = {"waiting": "Waiting: number {place} in the queue …", "grading": "Your notebook is being graded …"}


def hand_in(
    notebook: str | os.PathLike[str] | None = None, *, now: bool = False, late: bool = False, note: str = ""
) -> None:
    """Show a button that hands in this notebook as it was last saved, waits for the report and shows it.

    Without a service, the button grades the notebook on this computer if it is in a course folder with `source/`.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
        now: whether to hand in at once, without a button, as a script or a program without widgets must.
        late: whether to hand in even if that costs points because it is late. The button asks before it does.
        note: a request to the person who marks, which goes with the notebook, as that of `ask`.
    """
    if now:
        _hand_in(notebook, display(HTML(""), display_id=True), late, note, "Run hand_in(now=True, late=True) to")
        return
    label, before = _greeting(notebook)
    button = ipywidgets.Button(description=label, layout={"width": "max-content"})
    display({**button._repr_mimebundle_(), "text/plain": NO_BUTTON}, raw=True)
    area = display(before, display_id=True)

    confirmed = late

    def press(_: object) -> None:
        nonlocal confirmed
        button.disabled = True
        asks = False
        try:
            asks = _hand_in(notebook, area, confirmed, note, "Press the button again to")
        finally:
            confirmed = late or asks
            button.description, button.disabled = "Hand in late" if asks else _greeting(notebook)[0], False

    button.on_click(press)


def feedback(notebook: str | os.PathLike[str] | None = None) -> None:
    """Show what became of this notebook, without handing it in: report, marks, answers, and a link to its page.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    try:
        path = _notebook(notebook).resolve()
        service = service_of(path.parent)
        if service is None:
            raise Problem(
                f"No service with feedback is set up here: ask your teacher for it, or for the file {SETTINGS}."
            )
        found = service.ask(_address_of("feedback", path), b"", failed="No feedback")
        state = found["hand_in"] or {}
        if "report" in state:
            shown = report_shown(
                state["report"], state, [f"As handed in at {local_time(state['received'])}."], service.url, found
            )
        else:
            nothing = "" if found["marks"] else "<p>This notebook has not been graded yet.</p>"
            requests = "".join(map(request_shown, found["requests"]))
            shown = HTML(f"{nothing}{marks_shown(service.url, found)}{requests}")
        display(shown)
    except Problem as problem:
        display(note_shown(str(problem), RED))


def ask(text: str, exercise: str = "", notebook: str | os.PathLike[str] | None = None) -> None:
    """Ask the person who marks to look at an exercise of this notebook again; `feedback` shows the answer.

    Args:
        text: what should be looked at, and why.
        exercise: the name of the exercise, as in the report; '' for the whole notebook.
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    try:
        path = _notebook(notebook).resolve()
        service = service_of(path.parent)
        if service is None:
            raise Problem(f"No service is set up here: write to your teacher, or ask for the file {SETTINGS}.")
        request = service.ask(_address_of("request", path), _wanted(text, exercise), failed="Not asked")
        display(note_shown(f"Asked at {local_time(request['asked'])}: run feedback() for the answer.", GREEN))
    except Problem as problem:
        display(note_shown(str(problem), RED))


def _wanted(text: str, exercise: str) -> bytes:
    """Return the body of a request; raise Problem if it is so long that the service would hang up without a word."""
    if len(text.strip()) > MAX_REQUEST:
        raise Problem(f"Not asked: {TOO_LONG}.")
    return json.dumps({"text": text, "exercise": exercise}).encode()


def _address_of(what: str, path: Path) -> str:
    """Return the address for a notebook, below that of the service."""
    return f"{what}/{quote(path.parent.name, safe='')}/{quote(path.stem, safe='')}"


def _greeting(named: str | os.PathLike[str] | None) -> tuple[str, HTML]:
    """Return the text of the button, with the attempts left if they are limited, and marks that were returned."""
    # Whatever is wrong, the button says it when it is pressed.
    with suppress(Exception):
        path = _notebook(named).resolve()
        service = service_of(path.parent)
        if service is None:
            return "Grade now on this computer" if _course(path) else "Hand in now", HTML("")
        found = service.ask(_address_of("feedback", path), b"", LABEL_SECONDS)
        left = found["attempts_left"]
        attempts = "" if left is None else f" ({left} attempt{'' if left == 1 else 's'} left)"
        return f"Hand in now{attempts}", returned_shown(service.url, found)
    return "Hand in now", HTML("")


def _hand_in(named: str | os.PathLike[str] | None, area: DisplayHandle, late: bool, note: str, how: str) -> bool:
    """Hand a notebook in, and show the report, or one line with the reason why there is none.

    Args:
        named: the notebook's file, if Jupyter does not provide it.
        area: where to show it.
        late: whether the student has confirmed that a late hand-in costs points.
        note: a request to the person who marks.
        how: how to confirm it, as the beginning of a sentence.

    Returns:
        Whether the service asks the student to confirm it.
    """
    try:
        path = _notebook(named)
        content, saved = _read(path)
        notices = [f"{path.name}, as saved at {saved}. Later changes are not included: save them with Ctrl-S."]
        if not _holds_last_cell(content):
            notices.insert(0, "The cell that you ran last is not in the saved file. Did you save?")
        service = service_of(path.parent)
        if service is None:
            if note:
                notices.insert(0, "No service here takes your note: write to your teacher.")
            area.update(note_shown("Your notebook is being graded on this computer …"))
            area.update(report_shown(_graded_here(path), {}, notices))  # `grader check` keeps the points itself
            return False
        for state in _states(service, path, content, late):
            if note:
                # At once, because the student may not wait for the report; without it the notebook counts all the same.
                notices, note = [*_unsent(service, path.resolve(), note), *notices], ""
            if state.get("late"):
                notices.insert(0, f"This hand-in is {state['late']} late.")
            if state["state"] in STATES:
                area.update(note_shown(STATES[state["state"]].format_map(state)))
        if state["state"] != "graded":
            raise Problem(_ended(state))
        report = state["report"]
        area.update(report_shown(report, state, notices, service.url, _feedback(service, path.resolve(), state["id"])))
        with suppress(OSError):  # the table of progress is not worth a report
            keep_check(path, report["points"], report["max_points"])
    except Late as question:
        area.update(note_shown(f"{question} {how} hand it in anyway.", RED))
        return True
    except Problem as problem:
        area.update(note_shown(str(problem), RED))
    except Exception as error:
        # Below a button, a traceback goes to a log that no student reads.
        area.update(
            note_shown(f"hand_in() failed ({type(error).__name__}: {error}): show this line to your teacher.", RED)
        )
    return False


def _states(service: Service, path: Path, content: bytes, late: bool) -> Iterator[dict[str, Any]]:
    """Hand a notebook in, and yield its states, until it is graded or will not be."""
    place = _address_of("hand-in", path.resolve())
    state = service.ask(f"{place}?late=yes" if late else place, content)
    yield state
    while state["state"] in STATES:
        state = service.ask(f"hand-in/{state['id']}?wait={WAIT}")
        yield state


def _unsent(service: Service, path: Path, note: str) -> list[str]:
    """Send the note of a notebook that was handed in, and return a sentence if the service does not take it."""
    try:
        service.ask(_address_of("request", path), _wanted(note, ""), failed="Not asked")
    except Problem as problem:
        return [f"Handed in without your note. {problem}"]
    return []


def _feedback(service: Service, path: Path, hand_in: str) -> dict[str, Any]:
    """Return what became of a notebook and a link to the page of a hand-in; {} if the service does not say."""
    with suppress(Problem):  # a report is worth more than its link
        return service.ask(f"{_address_of('feedback', path)}?hand-in={quote(hand_in, safe='')}", b"")
    return {}


def _ended(state: dict[str, Any]) -> str:
    """Return the reason why there is no report."""
    if state["state"] == "superseded":
        return "A newer version of this notebook has been handed in, and is graded instead."
    return f"Not graded: {state.get('error', state['state'])}."


def _notebook(named: str | os.PathLike[str] | None) -> Path:
    """Return the notebook's file: the one that is named, or the first that exists of those that Jupyter provides."""
    again = 'run hand_in("NAME.ipynb") with the name of its file'
    if named is not None:
        if not (str(named).endswith(".ipynb") and os.path.isfile(named)):
            raise Problem(f"There is no notebook {named} in {Path.cwd()}: {again}.")
        return Path(named)
    shell = get_ipython()
    provided = os.environ.get(OPEN_NOTEBOOK[0]), shell.user_ns.get(OPEN_NOTEBOOK[1]) if shell else None
    names = [name for name in map(str, provided) if name.endswith(".ipynb")]
    for name in names:
        if os.path.isfile(name):
            return Path(name)
    if names:
        raise Problem(
            f"There is no file {names[0]}: if you renamed or moved the notebook, restart its kernel, or {again}."
        )
    raise Problem(f"Which notebook is this? Jupyter does not say: {again}.")


def _read(path: Path) -> tuple[bytes, str]:
    """Return the content of the notebook's file, and the time at which it was saved."""
    try:
        return _without_widgets(path.read_bytes()), time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
    except OSError as error:
        raise Problem(f"The notebook cannot be read ({error}): save it, and hand it in again.") from None


def _without_widgets(content: bytes) -> bytes:
    """Return a notebook without the state of its widgets, which holds answers to quick questions.

    JupyterLab stores that state only if told so.
    """
    form = form_of(content)
    metadata = form.get("metadata")
    if not isinstance(metadata, dict) or "widgets" not in metadata:
        return content
    del metadata["widgets"]
    return json.dumps(form, ensure_ascii=False, indent=1).encode()


def _holds_last_cell(content: bytes) -> bool:
    """Return whether the saved file holds the last cell that ran and does not hand in; true if unknown."""
    shell = get_ipython()
    # The history as typed: `In` has Python in place of magics.
    history = shell.history_manager.input_hist_raw if shell and shell.history_manager else []
    ran = [text.strip() for text in history if text.strip() and "hand_in(" not in text]
    cells = form_of(content).get("cells")
    if not ran or not isinstance(cells, list):
        return True
    sources = [cell.get("source") for cell in cells if isinstance(cell, dict)]
    # Jupyter writes a list of lines or a text, and other programs may write neither.
    texts = ("".join(map(str, source)) for source in sources if isinstance(source, (list, str)))
    return ran[-1] in map(str.strip, texts)


def _course(path: Path) -> Path | None:
    """Return the course folder above a notebook; None if there is none, or no grader."""
    if importlib.util.find_spec("grader") is None:
        return None
    folders = path.resolve().parents
    return next(
        (each for each in folders if (each / "source").is_dir() and (each / "nbgrader_config.py").exists()), None
    )


def _graded_here(path: Path) -> dict[str, Any]:
    """Return the report of `grader check` in the course folder above the notebook."""
    course = _course(path)
    if course is None:
        raise Problem(
            f"No service is set up here: ask your teacher for the file {SETTINGS}, and put it beside this "
            "notebook. If you learn alone, open the notebook in a folder of the whole course, which has source/."
        )
    command = [sys.executable, "-m", "grader", "check", str(path.resolve()), "--json"]
    try:
        done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Problem(f"Grading took more than {CHECK_SECONDS} seconds: run grader check in a terminal.") from None
    report = form_of(done.stdout.encode())
    if not report:
        raise Problem(done.stderr.strip() or "grader check ended without a report: run it in a terminal.")
    return report
