"""`hand_in()` in a real kernel hands in to a real service, or grades here, and shows the report below its cell.

The button is pressed by a cell: tests/hub presses it in JupyterLab.
"""

import os
import re
import socket
import urllib.request
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from unittest.mock import Mock

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grader.classroom.course_dir import CourseDir
from grader.classroom.course_root import remember
from grader.classroom.record.record import Record
from grader.classroom.record.requests import answer, open_requests
from grader.commands.feedback.feedback import Feedback
from grader_kernel import handing_in, service
from grader_kernel.report_html import RED
from tests.commands.serve.serving import Server, make_served_course, written
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME
from tests.support.waiting import until

pytestmark = pytest.mark.slow

LIMITED = """
c.SubmissionPolicy.assignments = {
    "02-few": {"attempts": 1}, "03-due": {"due": "2001-01-01 00:00 UTC"},
    "05-best": {"counts": "best"},
}
c.LateSubmissionPlugin.penalty_method = "zero"
"""
WRONG = "def one(x=1):\n    return x + 1"
HAND_IN, FEEDBACK = "hand_in(now=True)", "feedback()"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with some assignments, one of them past its due date."""
    more = ["02-few", "03-due", "04-changed", "05-best"]
    server = Server(make_served_course(tmp_path_factory.mktemp("served") / "course", LIMITED, more))
    yield server
    assert server.stop() == 0


def shown(
    folder: Path,
    content: bytes | None,
    *before: str,
    call: str = HAND_IN,
    assignment: str = NAME,
    name: str = "small",
    **environment: str,
) -> str:
    """Run `hand_in()` in the kernel of a student's notebook, and return as text what stands below the cell.

    Args:
        folder: the student's own.
        content: the notebook as saved; None leaves it unsaved.
        before: cells that run first.
        call: how the function is called.
        assignment: the folder of the notebook.
        name: the name of the notebook, without .ipynb.
        environment: variables of the kernel's environment.
    """
    path = folder / assignment / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        path.write_bytes(content)
    notebook = executed(
        path, [*before, f"from grader_kernel import ask, feedback, hand_in; {call}"], folder, **environment
    )
    [output] = notebook.cells[-1].outputs
    return re.sub(r"<[^>]+>", " ", output.data["text/html"])


def executed(path: Path, cells: Sequence[str], home: Path, **environment: str) -> NotebookNode:
    """Run cells in the kernel of a notebook's file."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    client = NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}})
    own = {"JPY_SESSION_NAME": str(path), "PYTHONPATH": str(REPOSITORY), "HOME": str(home), **environment}
    client.execute(env={**os.environ, **own})
    return notebook


def printed(notebook: NotebookNode) -> str:
    """The text that the last cell printed."""
    return "".join(output.text for output in notebook.cells[-1].outputs if output.output_type == "stream")


def access(server: Server, student: str) -> dict[str, str]:
    """The variables of the environment that lead a student to the service."""
    return {"HAND_IN_URL": server.url, "HAND_IN_TOKEN": server.tokens[student]}


def test_a_wrong_answer_is_read_about_and_mended(server: Server, tmp_path: Path) -> None:
    """The first report says what is wrong in the words of the tests and names the cause; the second has full points."""
    text = shown(tmp_path, written(server.folder, one=WRONG), **access(server, "ann"))
    assert "5 of 8 points from tests" in text
    assert re.search(
        r"✗\s+one\s+: not right yet, 0 of 3 points\s+Your code behaves exactly like one that adds one", text
    )
    assert "one() is 1." in text
    assert re.search(r"✓\s+two\s+: right, 5 of 5 points", text)
    assert "as saved at" in text and "Did you save" not in text
    assert "8 of 8 points from tests" in shown(tmp_path, written(server.folder), **access(server, "ann"))


def test_the_settings_file_of_a_class_leads_to_the_service(server: Server, tmp_path: Path) -> None:
    """It may lie above the notebook; it says how many attempts are left, and the refusal of one more is in words."""
    (tmp_path / "hand_in.toml").write_text(f'url = "{server.url}/"\ntoken = "{server.tokens["bob"]}"\n')
    text = shown(tmp_path, written(server.folder), assignment="02-few")
    assert "8 of 8 points" in text and "Attempts left: 0." in text
    text = shown(tmp_path, written(server.folder, one=WRONG), assignment="02-few")
    assert "Not handed in: all 1 attempts at this notebook are used." in text


def test_one_is_reminded_to_save(server: Server, tmp_path: Path) -> None:
    """If the cell that ran last is not in the file, that may be older than what one sees."""
    saved = written(server.folder)
    last = nbformat.reads(saved.decode(), nbformat.NO_CONVERT).cells[2].source
    assert "Did you save?" in shown(tmp_path, saved, "x = 1", **access(server, "cat"))
    assert "Did you save?" not in shown(tmp_path, saved, last, **access(server, "cat"))
    magic = nbformat.reads(saved.decode(), nbformat.NO_CONVERT)
    magic.cells.append(new_code_cell("%time 1 + 1\n"))
    saved = nbformat.writes(magic).encode()
    assert "Did you save?" not in shown(tmp_path, saved, last, "%time 1 + 1\n", **access(server, "cat"))


@pytest.mark.parametrize(
    ("call", "change", "says"),
    [
        (HAND_IN, {"HAND_IN_TOKEN": "another"}, "Not handed in: .*token"),
        (HAND_IN, {"HAND_IN_URL": "http://127.0.0.1:9"}, "does not answer .*try again, or ask your teacher"),
        (HAND_IN, {"HAND_IN_TOKEN": ""}, "You have no token"),
        (HAND_IN, {"JPY_SESSION_NAME": ""}, r"run hand_in\(&quot;NAME.ipynb&quot;\)"),
        (
            HAND_IN,
            {"JPY_SESSION_NAME": "/nowhere/x.ipynb"},
            "no file /nowhere/x.ipynb: if you renamed .* restart its kernel",
        ),
        (HAND_IN, {"HAND_IN_URL": "grader.example.org"}, "grader.example.org is not the address of a service"),
        (HAND_IN, {"HAND_IN_URL": "http://[1"}, r"http://\[1 is not the address of a service"),
        (
            HAND_IN,
            {"HAND_IN_URL": "http://127.0.0.1/a b"},
            "A request to http://127.0.0.1/a b cannot be sent .*control char",
        ),
        (
            HAND_IN,
            {"HAND_IN_TOKEN": "schlüssel→"},
            "A request to .* cannot be sent .*correct the address and the token",
        ),
        (FEEDBACK, {}, "This notebook has not been graded yet."),
        (FEEDBACK, {"HAND_IN_TOKEN": "another"}, "No feedback: this token is unknown"),
        (
            FEEDBACK,
            {"HAND_IN_URL": "", "HAND_IN_TOKEN": ""},
            "No service with feedback is set up here: ask your teacher",
        ),
        ("ask('x', 'three')", {}, "small has no exercise &#x27;three&#x27;: name one of one, two, why, or none"),
        ("ask(' ')", {}, "the text is empty: say what to look at again"),
        ("ask('x' * 2001)", {}, "more than 2000 characters"),
        ("ask('x' * 200_000)", {}, "Not asked: the text has more than 2000 characters: make it shorter."),
        ("ask('x', notebook='none.ipynb')", {}, "There is no notebook none.ipynb"),
    ],
)
def test_a_problem_is_a_sentence(server: Server, tmp_path: Path, call: str, change: dict[str, str], says: str) -> None:
    """It says what to do, there is no traceback, and what could not be asked has not reached the markers."""
    assert re.search(says, shown(tmp_path, written(server.folder), call=call, **access(server, "dan") | change))
    assert not [each for each in open_requests(Record(server.folder)) if each.student == "dan"]


ODD = "Hausübung (Kopie) 100%?#"
PRESS = """
import gc, ipywidgets
[button] = [each for each in gc.get_objects() if isinstance(each, ipywidgets.Button)]
print(button.description); button.click(); print(button.description, button.disabled)
"""


def test_a_request_reaches_the_markers_and_its_answer_the_student(server: Server, tmp_path: Path) -> None:
    """With the notebook or by itself; the same words twice are one request, and the report has the answer."""
    mine = access(server, "ivy")
    text = shown(tmp_path, written(server.folder), call="hand_in(now=True, note='Is <two> right?')", **mine)
    assert "You asked: Is &lt;two&gt; right?" in text and "No answer yet." in text
    for _ in range(2):
        notebook = executed(
            tmp_path / NAME / "small.ipynb",
            ["from grader_kernel import ask; ask('look again', 'why')"],
            tmp_path,
            **mine,
        )
        assert "Asked at" in notebook.cells[0].outputs[0].data["text/html"]
    record = Record(server.folder)
    first, second = (each for each in open_requests(record) if each.student == "ivy")
    assert (first.cell, second.cell, second.why, second.who) == ("", "why", "look again", "ivy")
    answer(record, second.id, "mia", "You are right.", lambda _: (0.5, 2.0))
    assert first in open_requests(record) and second not in open_requests(record)
    key = server.hand_in("ivy", written(server.folder)).json["id"]
    page = server.ask(f"/hand-in/{key}/feedback", "ivy").body.decode()
    assert "Is &lt;two&gt; right?" in page and "<strong>Answer</strong> (0.5 → 2 points): You are right." in page
    assert "mia" not in page and page.count('id="requests"') == 1
    text = " ".join(shown(tmp_path, None, **mine).split())
    assert "You asked about why: look again Answer (0.5 → 2 points): You are right." in text and "mia" not in text


def test_a_notebook_counts_without_its_note(server: Server, tmp_path: Path) -> None:
    """A note that is refused is a notice above the report; a note with an unchanged notebook is shown, too."""
    mine = access(server, "bob")
    text = shown(tmp_path, written(server.folder), call="hand_in(now=True, note='x' * 2001)", **mine)
    assert "8 of 8 points" in text and "Not handed in" not in text
    assert "Handed in without your note. Not asked: the text has more than 2000 characters" in text
    assert "You asked" not in text
    text = shown(tmp_path, None, call="hand_in(now=True, note='Is it right?')", **mine)
    assert "8 of 8 points" in text and "You asked: Is it right?" in text and "without your note" not in text


def returned(server: Server, student: str, points: float, assignment: str = NAME) -> None:
    """Mark the written answer of a student, and return it."""
    with CourseDir(server.folder).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", assignment, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    assert not list(Feedback(CourseDir(server.folder), assignment, unmarked=True).give([student]))


def test_marks_and_a_link_to_the_page_are_below_the_cell(server: Server, tmp_path: Path) -> None:
    """After handing in, at the next look at the button, and without handing in; the link opens the marked page."""
    mine = access(server, "hal")
    text = shown(tmp_path, written(server.folder), **mine)
    assert "Answers worth another 2 points are marked by a person" in text and "Marked:" not in text
    returned(server, "hal", 1.5)
    for call in (HAND_IN, FEEDBACK):
        text = " ".join(shown(tmp_path, None, call=call, **mine).split())
        assert "Marked: 9.5 of 10 points , as returned at 20" in text and "Open the page with all comments" in text
    path = tmp_path / NAME / "small.ipynb"
    notebook = executed(path, ["from grader_kernel import hand_in; hand_in()"], tmp_path, **mine)
    _, report = notebook.cells[0].outputs
    [link] = re.findall('href="([^"]+)"', report.data["text/html"])
    assert "Marked: 9.5 of 10" in report.data["text/html"] and link.startswith(f"{server.url}/open/")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link) as page:
        assert "<strong>9.5</strong> of 10 points" in page.read().decode()
    assert server.ask("/", "hal").json["assignments"][NAME]["notebooks"]["small"]["attempts"] == 1


def test_marks_beside_a_hand_in_that_does_not_count_are_those_of_an_earlier_one(server: Server, tmp_path: Path) -> None:
    """Where the best one counts, a worse one does not come into the marks later; a better one does."""
    mine, place = access(server, "bob"), {"assignment": "05-best"}
    shown(tmp_path, written(server.folder, one=WRONG), **place, **mine)
    returned(server, "bob", 1, "05-best")
    text = shown(tmp_path, written(server.folder, one="def one(x=1):\n    return 7"), **place, **mine)
    assert "Marked: 6 of 10" in text and "This hand-in does not count: the marks are those of an earlier one." in text
    text = shown(tmp_path, written(server.folder), **place, **mine)
    assert "Marked: 6 of 10" in text and "Your newest hand-in is not in these marks yet." in text


def test_the_button_hands_in_and_run_all_does_not(server: Server, tmp_path: Path) -> None:
    """It says how many attempts are left, before and after; the report appears below the cell."""
    path = tmp_path / "02-few" / "small.ipynb"
    path.parent.mkdir()
    path.write_bytes(written(server.folder))
    cells = ["from grader_kernel import hand_in; hand_in()"]
    for _ in range(2):  # "Run All", twice
        notebook = executed(path, cells, tmp_path, **access(server, "fay"))
        button, report = notebook.cells[0].outputs
        assert "application/vnd.jupyter.widget-view+json" in button.data and report.data["text/html"] == ""
        assert button.data["text/plain"] == handing_in.NO_BUTTON
    overview = server.ask("/", "fay").json["assignments"]
    assert all(each["attempts"] == 0 for one in overview.values() for each in one["notebooks"].values())
    notebook = executed(path, [*cells, PRESS], tmp_path, **access(server, "fay"))
    assert printed(notebook) == "Hand in now (1 attempt left)\nHand in now (0 attempts left) False\n"
    assert "8 of 8 points" in notebook.cells[0].outputs[1].data["text/html"]


def test_a_late_hand_in_is_confirmed_with_a_second_press(server: Server, tmp_path: Path) -> None:
    """The first one says what it costs and uses no attempt; without a button, an argument confirms it."""
    path = tmp_path / "03-due" / "small.ipynb"
    path.parent.mkdir()
    path.write_bytes(written(server.folder))
    cells = ["from grader_kernel import hand_in; hand_in()", PRESS]
    notebook = executed(path, cells, tmp_path, **access(server, "gus"))
    assert printed(notebook) == "Hand in now\nHand in late False\n"
    asked = notebook.cells[0].outputs[1].data["text/html"]
    assert "small with full points would lose 10 of 10. Press the button again to hand it in" in asked
    assert server.ask("/", "gus").json["assignments"]["03-due"]["notebooks"]["small"]["attempts"] == 0
    notebook = executed(path, [*cells, PRESS], tmp_path, **access(server, "gus"))
    assert printed(notebook) == "Hand in late\nHand in now False\n"
    taken = notebook.cells[0].outputs[1].data["text/html"]
    assert "8 of 8 points" in taken and "days late." in taken
    text = shown(tmp_path, written(server.folder, one=WRONG), assignment="03-due", **access(server, "hal"))
    assert "Run hand_in(now=True, late=True) to hand it in" in text
    call = "hand_in(now=True, late=True)"
    text = shown(tmp_path, written(server.folder, one=WRONG), assignment="03-due", call=call, **access(server, "hal"))
    assert "5 of 8 points" in text


def test_points_that_are_older_than_the_course_have_a_notice(server: Server, tmp_path: Path) -> None:
    """The source was changed while the service ran: the report says that the points may change."""
    file = server.folder / "source" / "04-changed" / "small.ipynb"
    source = nbformat.read(file, as_version=4)
    source.cells[0].source += ", and one more sentence"
    nbformat.write(source, file)
    until(lambda: "04-changed" in server.ask("/health").json["outdated"], "the change")
    mine, notice = access(server, "ivy"), "Your teacher has changed this assignment since this was graded"
    text = shown(tmp_path, written(server.folder), assignment="04-changed", **mine)
    assert "8 of 8 points" in text and text.count(notice) == 1
    text = shown(tmp_path, None, assignment="04-changed", call=FEEDBACK, **mine)
    assert "8 of 8 points" in text and text.count(notice) == 1
    returned(server, "ivy", 2, "04-changed")
    path = tmp_path / "04-changed" / "small.ipynb"
    notebook = executed(path, ["from grader_kernel import hand_in; hand_in()"], tmp_path, **mine)
    below = notebook.cells[0].outputs[-1].data["text/html"]
    assert "Marked: 10 of 10 points" in below and below.count(notice) == 1
    text = shown(tmp_path, written(server.folder), **access(server, "ivy"))
    assert "8 of 8 points" in text and "Your teacher has changed" not in text


def test_a_service_that_does_not_answer_leaves_the_button(tmp_path: Path) -> None:
    """Without a number; so does a notebook that is not known, and without service and course folder."""
    for change in ({"HAND_IN_URL": "http://127.0.0.1:9", "HAND_IN_TOKEN": "x"}, {"JPY_SESSION_NAME": ""}, {}):
        notebook = executed(tmp_path / "x.ipynb", ["import grader_kernel as g; g.hand_in()", PRESS], tmp_path, **change)
        assert printed(notebook) == "Hand in now\nHand in now False\n"
        assert RED in notebook.cells[0].outputs[1].data["text/html"]


@pytest.mark.parametrize(("folder", "name"), [("hw 1", "small"), (NAME, "tiny (1)"), (ODD, ODD), ("..", "a\nb")])
def test_every_name_of_a_file_reaches_the_service(server: Server, tmp_path: Path, folder: str, name: str) -> None:
    """Blanks, accents and signs of an address: the service answers about it, and says which there are."""
    text = shown(tmp_path / "home", written(server.folder), assignment=folder, name=name, **access(server, "gus"))
    known = f"{NAME} has no notebook" if folder == NAME else "there is no assignment"
    assert f"Not handed in: {known}" in text and "does not answer" not in text
    assert folder in (NAME, "..") or escape(folder) in text
    assert folder == NAME or f"put the notebook into a folder with the name of one ({NAME}, " in " ".join(text.split())
    own = tmp_path / ODD
    assert "8 of 8" in shown(own, written(server.folder), name="small (1)", **access(server, "gus"))


def test_the_first_source_that_is_a_file_is_taken(server: Server, tmp_path: Path) -> None:
    """VS Code beside a Jupyter server: the name of the session is no file. A name that is given goes before all."""
    path = tmp_path / NAME / "small.ipynb"
    say = f"__vsc_ipynb_file__ = {str(path)!r}"
    wrong = {"JPY_SESSION_NAME": f"{path}-jvsc-1234.ipynb"}
    assert "8 of 8" in shown(tmp_path, written(server.folder), say, **access(server, "ivy") | wrong)
    call = "hand_in('small.ipynb', now=True)"
    assert "8 of 8" in shown(tmp_path, written(server.folder), call=call, **access(server, "ivy") | wrong)
    for named in ("smal.ipynb", "small", "."):
        text = shown(
            tmp_path, written(server.folder), say, call=f"hand_in({named!r}, now=True)", **access(server, "ivy")
        )
        assert f"There is no notebook {named} in {path.parent}: run hand_in" in text


@pytest.mark.parametrize("cells", ["null", "7", "[]", "[null]", '[{"source": null}]', '[{"source": [1, null]}, {}]'])
def test_odd_cells_stop_no_hand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: str) -> None:
    """Whether the last cell is in the file is a remark; the file is sent as it is, and the service judges it."""
    sent = []
    monkeypatch.setattr(handing_in, "service_of", lambda _: service.Service("http://127.0.0.1:9", ""))
    monkeypatch.setattr(service.Service, "ask", lambda self, path, data: sent.append(data) or {"state": "refused"})
    monkeypatch.setattr(handing_in, "display", lambda *_, **__: Mock())
    shell = Mock(history_manager=Mock(input_hist_raw=["", "x = 1", "hand_in()"]))
    monkeypatch.setattr(handing_in, "get_ipython", lambda: shell)
    path = tmp_path / "x.ipynb"
    path.write_text(f'{{"cells": {cells}}}')
    handing_in.hand_in(path, now=True)
    assert sent == [path.read_bytes()]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n<html>Welcome</html>", "is not from the service of a class"),
        (b"HTTP/1.1 200 OK\r\n\r\n[]", "is not from the service of a class"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"a": 1}', "is not from the service of a class"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "does not answer"),
        (b"HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n{", "Not handed in: the service answered 403 No"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not answer"),
        (b"", "does not answer"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"state": "graded", "report": {}}', "failed .KeyError: .*show this line"),
    ],
)
def test_any_other_answer_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, says: str
) -> None:
    """Of a page, a service of another kind, a connection that ends: no traceback, and nothing untrue."""
    shown: list[str] = []
    monkeypatch.setattr(handing_in, "display", lambda *_, **__: Mock(update=lambda page: shown.append(page.data)))
    path = tmp_path / "x.ipynb"
    path.write_text("{}")

    class Answering(BaseRequestHandler):
        def handle(self) -> None:
            request = b""
            while not request.endswith(b"{}"):
                request += self.request.recv(10**6)
            self.request.sendall(answer)
            self.request.shutdown(socket.SHUT_WR)
            self.request.recv(1)

    # In threads: a client of an earlier kernel may try its old port.
    with ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,)).start()
        monkeypatch.setenv("HAND_IN_URL", f"http://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("HAND_IN_TOKEN", "x")
        handing_in.hand_in(path, now=True)
        server.shutdown()
    assert re.search(says, shown[-1]) and shown[-1].count("<div") == 1 and "\n" not in shown[-1]


def test_who_learns_alone_is_graded_on_this_computer(server: Server, tmp_path: Path) -> None:
    """Without a service, in the course folder, once that is known; without both, the sentence says what to do."""
    text = shown(server.folder / "mine", written(server.folder, one=WRONG))
    assert f"{server.folder} has not been used before" in text and "run this once with --trust" in text
    remember(server.folder)
    text = shown(server.folder / "mine", written(server.folder, one=WRONG), call="hand_in(now=True, note='Why?')")
    assert "5 of 8 points from tests" in text and "adds one" in text and "Attempts" not in text
    assert "No service here takes your note" in text
    assert "ask your teacher for the file hand_in.toml" in shown(tmp_path, written(server.folder))
