"""Marks reach students when they are returned, and not before: in words, and on a page behind a one-time link."""

import html
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from nbgrader.apps import ReleaseFeedbackApp

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.record import Record
from grader.classroom.record.requests import open_requests
from grader.classroom.results import SECRET
from grader.commands.feedback.feedback import Feedback
from grader.commands.serve.web.links import KEPT, LINK_SECONDS, PAGE_SECONDS, Links, View
from tests.commands.serve.serving import Server, other, written
from tests.support.exchange import IGNORED, ExchangeStudent
from tests.support.nbgrader_programs import run_program
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, mark, released

COMMENT, MORE = "A fine reason.", ["02-later"]
SETTINGS = """
c.SubmissionPolicy.assignments = {"02-later": {"due": "2100-01-01 00:00 UTC", "disclosure": "points and sentences"}}
c.LateSubmissionPlugin.penalty_method = "zero"
"""

pytestmark = pytest.mark.filterwarnings(*IGNORED)


def give_back(server: Server, *students: str, assignment: str = NAME) -> None:
    """Run `grader feedback`."""
    assert not list(Feedback(CourseDir(server.folder), assignment, unmarked=True).give(students))


def feedback(
    server: Server, student: str, query: str = "", assignment: str = NAME, name: str = "small"
) -> dict[str, Any]:
    """Return what the service says about a notebook."""
    told = server.ask(f"/feedback/{assignment}/{name}{query}", student, b"")
    assert told.status == 201, told
    return told.json


class Browser:
    """A browser with its cookies, which follows no redirect by itself."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.cookies: dict[str, str] = {}

    def load(self, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """Return status, headers and body of a page, or of the answer to a form."""
        cookies = "; ".join(value for place, value in self.cookies.items() if path.startswith(place))
        data = None if form is None else urlencode(form).encode()
        answer = self._server.send(path, data, headers | {"Cookie": cookies})
        if cookie := answer.headers.get("Set-Cookie"):
            assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
            self.cookies[re.search("Path=([^;]+)", cookie)[1]] = cookie.partition(";")[0]  # type: ignore[index]
        return answer.status, answer.headers, answer.text

    def follow(self, link: str) -> tuple[str, str]:
        """Open a one-time link; return the address of the page, and the page."""
        status, headers, _ = self.load(urlsplit(f"/{link}").path)
        assert status == 303 and headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
        status, found, page = self.load(headers["Location"])
        assert status == 200 and found["Cache-Control"] == "no-store"
        assert "default-src 'none'" in found["Content-Security-Policy"] and "script" not in found[
            "Content-Security-Policy"
        ].replace("'unsafe-inline'", "")
        return headers["Location"], page


def key_of(page: str) -> str:
    """Return the secret in the form of a page."""
    return re.search('name="key" value="([^"]+)"', page)[1]  # type: ignore[index]


@pytest.mark.slow
def test_a_mark_is_seen_after_it_is_returned_and_not_before(server: Server) -> None:
    """Neither the report, nor the page, nor the page of a new hand-in shows what a person gave meanwhile."""
    graded = server.graded("ann", written(server.folder))
    assert graded["unmarked"] == 2
    before = feedback(server, "ann")
    assert before["marks"] is None and before["hand_in"]["id"] == graded["id"]
    _, page = Browser(server).follow(before["link"])
    assert "2 points wait for marking" in page
    mark(server.folder, "ann", 0.5, COMMENT)
    again = server.graded("ann", written(server.folder, two="def two():\n    return 1 + 1"))
    for key in (graded["id"], again["id"]):
        told = feedback(server, "ann", f"?hand-in={key}")
        assert told["marks"] is None
    _, page = Browser(server).follow(told["link"])
    assert COMMENT not in page and "2 points wait for marking" in page
    assert COMMENT not in server.ask(f"/hand-in/{again['id']}/feedback", "ann").body.decode()
    give_back(server, "ann")
    told = feedback(server, "ann")
    assert told["marks"]["points"] == 8.5 and told["marks"]["max_points"] == 10 and not told["marks"]["is_older"]
    _, page = Browser(server).follow(told["link"])
    assert COMMENT in page and "<strong>8.5</strong> of 10 points" in page
    assert COMMENT in server.ask(f"/hand-in/{again['id']}/feedback", "ann").body.decode()
    mark(server.folder, "ann", 2, "Better.")
    assert feedback(server, "ann")["marks"]["points"] == 8.5
    give_back(server, "ann")
    told = feedback(server, "ann")
    assert told["marks"]["points"] == 10
    page = Browser(server).follow(told["link"])[1]
    assert "Better." in page and COMMENT not in page


@pytest.mark.slow
def test_a_newer_hand_in_has_its_page_and_the_marks_stay(server: Server) -> None:
    """Each page leads to the other, and says which it is."""
    server.graded("bob", written(server.folder))
    mark(server.folder, "bob", 1, COMMENT)
    give_back(server, "bob")
    server.graded("bob", written(server.folder, one="def one(x=1):\n    return x + 1"))
    told = feedback(server, "bob")
    assert told["marks"]["is_older"] and told["marks"]["points"] == 9
    browser = Browser(server)
    place, page = browser.follow(told["link"])
    assert "An earlier hand-in of yours is marked: 9 of 10 points." in page and COMMENT not in page
    assert f'href="{place}/marked"' in page
    status, _, marked = browser.load(f"{place}/marked")
    assert status == 200 and COMMENT in marked and "You have handed in again since" in marked
    assert f'href="{place}"' in marked


@pytest.mark.slow
def test_exchange_and_service_return_what_came_by_either(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """kim submits by the exchange, dan by the service: one command returns both, and nbgrader's own takes both.

    The service, to which kim has handed in nothing, has a page and marks nevertheless once they are returned.
    """
    server.graded("dan", written(server.folder))
    secret = (server.folder / "submitted" / "dan" / NAME / SECRET).read_text()
    server.graded("dan", other(server.folder), NAME, "other")
    for step in ("submitted", "feedback"):  # it is made once, and copied beside the page
        assert (server.folder / step / "dan" / NAME / SECRET).read_text() == secret and len(secret) == 128
    kim = ExchangeStudent("kim", server.folder, tmp_path / "home", caplog)
    kim.submit(NAME, "small", answered(released(server.folder), **RIGHT), monkeypatch)
    assert feedback(server, "kim")["link"] is None
    grade_class(server.folder, only=["kim"])
    assert feedback(server, "kim") | {"link_seconds": 0} == {
        "assignment": NAME, "notebook": "small", "marks": None, "requests": [], "hand_in": None, "link": None,
        "attempts_left": None, "outdated": None, "link_seconds": 0,
    }  # fmt: skip
    for student in ("dan", "kim"):
        mark(server.folder, student, 1.5, COMMENT)
        for private in (server.folder / "feedback" / student / NAME).glob("*.html"):
            private.chmod(0o600)  # as a service writes them that keeps others out
    status, logged = run_program(ReleaseFeedbackApp, caplog, NAME, "--student=dan")
    assert status == 0 and "Feedback released" in logged, logged
    give_back(server, "dan", "kim")
    assert COMMENT in kim.fetched(NAME, "small", monkeypatch)
    pages = (server.folder / "exchange" / "attention" / "feedback").glob("*.html")
    assert all(each.stat().st_mode & 0o004 for each in pages)
    for student in ("dan", "kim"):
        told = feedback(server, student)
        assert told["marks"]["points"] == 9.5 and (told["hand_in"] is None) == (student == "kim")
        assert COMMENT in Browser(server).follow(told["link"])[1]
    mark(server.folder, "kim", 2, "Better.")
    give_back(server, "kim")
    page = (server.folder / "returned" / "kim" / NAME / "small.html").read_text()
    assert kim.fetched(NAME, "small", monkeypatch) == page and "Better." in page


@pytest.mark.slow
def test_a_link_works_once_and_its_page_for_one_browser(server: Server) -> None:
    """A second visit, a guessed link, another browser and another page are refused with a page that says what to do."""
    server.graded("eve", written(server.folder))
    link = feedback(server, "eve")["link"]
    browser = Browser(server)
    place, _ = browser.follow(link)
    assert browser.load(place)[0] == 200  # loaded again
    assert browser.load(f"{place}?x=1")[0] == 200
    for path in (f"/{link}", "/open/guessed", f"{place}x", "/page/guessed/marked"):
        status, headers, page = browser.load(path)
        assert status == 410 and headers["Content-Type"].startswith("text/html")
        assert "run hand_in() or feedback() in your notebook again" in page
    assert Browser(server).load(place)[0] == 410
    other_page, _ = Browser(server).follow(feedback(server, "eve")["link"])
    assert browser.load(other_page)[0] == 410
    log = (server.folder / "serve.log").read_text()
    assert link.partition("/")[2] not in log and "/open/…" in log


def test_no_student_gets_a_link_to_the_work_of_another(server: Server) -> None:
    """Neither with an id of another student, nor of another notebook, nor without a token."""
    key = server.graded("fay", written(server.folder))["id"]
    assert server.ask(f"/feedback/{NAME}/small?hand-in={key}", "gus", b"").status == 404
    assert server.ask(f"/feedback/{NAME}/other?hand-in={key}", "fay", b"").status == 404
    assert server.ask(f"/feedback/{NAME}/none", "fay", b"").status == 404
    assert server.ask(f"/feedback/{NAME}/small", "", b"").status == 401
    assert server.ask(f"/feedback/{NAME}/small", "fay").status == 405


@pytest.mark.slow
def test_a_page_that_is_not_disclosed_has_no_link_until_its_marks_are_returned(server: Server) -> None:
    """Returning the marks is the teacher's decision to show the page."""
    key = server.graded("gus", written(server.folder), "02-later")["id"]
    assert feedback(server, "gus", assignment="02-later")["link"] is None
    mark(server.folder, "gus", 1, COMMENT, "02-later")
    give_back(server, "gus", assignment="02-later")
    link = feedback(server, "gus", assignment="02-later")["link"]
    assert COMMENT in Browser(server).follow(link)[1]
    assert COMMENT in server.ask(f"/hand-in/{key}/feedback", "gus").body.decode()
    server.graded("gus", written(server.folder, why="Another."), "02-later")
    place, page = Browser(server).follow(feedback(server, "gus", assignment="02-later")["link"])
    assert "You have handed in again since" in page and f"{place}/marked" not in page


@pytest.mark.slow
def test_a_late_page_tells_no_mark_by_its_penalty(server: Server) -> None:
    """The penalty takes all points; before marks are returned, it is that of the tests alone."""
    with CourseDir(server.folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2001-01-01 00:00 UTC")
    try:
        receipt = server.ask(f"/hand-in/{NAME}/small?late=yes", "hal", written(server.folder))
        server.report("hal", receipt.json["id"])
        assert "8 points were taken off" in Browser(server).follow(feedback(server, "hal")["link"])[1]
        mark(server.folder, "hal", 1, COMMENT)
        again = written(server.folder, two="def two():\n    return 1 + 1")
        receipt = server.ask(f"/hand-in/{NAME}/small?late=yes", "hal", again)
        server.report("hal", receipt.json["id"])
        assert "8 points were taken off" in Browser(server).follow(feedback(server, "hal")["link"])[1]
        give_back(server, "hal")
        assert "9 points were taken off" in Browser(server).follow(feedback(server, "hal")["link"])[1]
    finally:
        with CourseDir(server.folder).gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=None)


def test_a_request_that_is_not_the_students_or_too_long_is_refused(server: Server) -> None:
    """Nothing is recorded; what the student wrote stays in the form, beside the reason. A flood is not even read."""
    server.graded("kim", written(server.folder))
    browser = Browser(server)
    place, page = browser.follow(feedback(server, "kim")["link"])
    key = key_of(page)
    for change, headers, status, says in (
        ({"key": "guessed"}, {}, 403, "does not come from the page"),
        ({"key": ""}, {}, 403, "does not come from the page"),
        ({}, {"Sec-Fetch-Site": "cross-site"}, 403, "comes from another site"),
        ({}, {"Origin": "https://evil.example"}, 403, "comes from another site"),
        ({"text": "  "}, {}, 400, "Not sent: the text is empty"),
        ({"text": "x" * 2001}, {}, 400, "Not sent: the text has more than 2000 characters"),
        ({"exercise": "three"}, {}, 404, "Not sent: small has no exercise 'three'"),
    ):
        sent = {"key": key, "exercise": "", "text": "Look <again>."} | change
        found, _, page = browser.load(place, sent, **headers)
        assert found == status and says in html.unescape(page)
        if "Not sent" in says:
            assert 'role="alert"' in page and (not change.get("exercise") or "Look &lt;again&gt;." in page)
    with suppress(OSError):
        assert browser.load(place, {"key": key, "text": "x" * 70_000})[0] == 400
    assert browser.load(place)[0] == 200
    assert not [each for each in open_requests(Record(server.folder)) if each.student == "kim"]


def test_links_end_and_are_bounded() -> None:
    """Time is up after a quarter of an hour, and of one student the newest count; a page stays open longer."""
    now = [0.0]
    links = Links(lambda: now[0])
    view = View("ann", NAME, "small")
    first = links.offer(view)
    for_bob = links.offer(View("bob", NAME, "small"))
    later = [links.offer(view) for _ in range(KEPT)]
    assert links.open(first) is None and links.open(for_bob) is not None
    opened = links.open(later[0])
    assert opened is not None and links.open(later[0]) is None
    now[0] = LINK_SECONDS
    assert links.open(later[1]) is None
    key, page = opened
    assert links.page(key, page.cookie) == page and links.page(key, page.form) is None
    now[0] = PAGE_SECONDS
    assert links.page(key, page.cookie) is None


@pytest.mark.slow
def test_a_damaged_file_of_points_costs_no_report(server: Server, tmp_path: Path) -> None:
    """The service goes on without marks, and its log says what to do."""
    server.graded("ann", written(server.folder))
    give_back(server, "ann")
    file = server.folder / "returned" / "ann" / NAME / "points.json"
    content = file.read_bytes()
    try:
        file.write_bytes(b"{")
        assert feedback(server, "ann")["marks"] is None
        assert "run 'grader feedback' again" in (server.folder / "serve.log").read_text()
    finally:
        file.write_bytes(content)
