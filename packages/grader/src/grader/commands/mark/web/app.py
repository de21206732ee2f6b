"""Defines the handlers of `grader mark` and their addresses.

    GET  /  ASSIGNMENT/  ASSIGNMENT/NOTEBOOK/CELL --> pages          GET  .../changes?after=N --> states, as they change
    POST ASSIGNMENT/NOTEBOOK/CELL/{hold,release,mark,answer,comment,forget} and ASSIGNMENT/undo --> JSON

Names from an address are looked up, and never become a path.
"""

import logging
import secrets
from typing import Any
from urllib.parse import quote

import msgspec
from tornado.web import Application, Finish, HTTPError, RequestHandler

from grader.classroom.web.refusal import Refusal
from grader.commands.mark.leases import Window
from grader.commands.mark.marking import Stale
from grader.commands.mark.scheme import ReusableComment
from grader.commands.mark.web import pages
from grader.commands.mark.web.access import Session
from grader.commands.mark.web.context import MarkingContext, Place
from grader.text import one_line

log = logging.getLogger("grader.commands.mark")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Permissions of a page in a browser: our script, our styles and pictures of answers, from this server alone."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MAX_BODY = 64 * 1024
WAIT_SECONDS = 20.0
"""How long a page waits for news in one request."""
REASONS = {403: "this request comes from another site", 404: "there is nothing at this address"}
STATIC = {"mark.js": "text/javascript", "mark.css": "text/css"}


class Handler(RequestHandler):
    """Identifies the marker, and answers in JSON, or with a page to a browser that opens one."""

    session: Session

    def initialize(self) -> None:
        """Get the context."""
        self.context: MarkingContext = self.settings["context"]
        self.root: str = self.settings["root"]

    def set_default_headers(self) -> None:
        """Forbid browsers everything that the pages do not need."""
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    async def prepare(self) -> None:
        """Identify the marker."""
        session = await self.context.access.session(self)
        if session is None:
            raise Finish
        self.session = session

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the reason of a refusal."""
        error = details.get("exc_info", (None, None))[1]
        why = REASONS.get(status_code, "the server failed; what was shown as saved is in the gradebook")
        if isinstance(error, Refusal):
            why = error.why
            self.set_status(error.status)
        if "text/html" in self.request.headers.get("Accept", ""):
            self.finish(pages.error_page(self.root, why))
        else:
            self.finish({"error": why})

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log an exception that is not a refusal."""
        if not isinstance(value, Refusal):
            super().log_exception(typ, value, tb)

    def form(self, kind: type[Any]) -> Any:
        """Return the body of a request."""
        try:
            return msgspec.json.decode(self.request.body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise Refusal(400, "this request is not one of the page's: reload the page") from None

    def window(self, tab: str) -> Window:
        """Return the window that sends a request."""
        return Window(self.session.marker, tab)


class HomePage(Handler):
    """Shows the assignments."""

    async def get(self) -> None:
        """Answer with the page, or send the browser to the only assignment."""
        if len(self.context.assignments) == 1:
            self.redirect(f"{self.root}{quote(self.context.assignments[0], safe='')}/")
            return
        self.finish(pages.home_page(self.root, self.session, self.context.assignments))


class AssignmentPage(Handler):
    """Shows the questions of an assignment."""

    async def get(self, assignment: str) -> None:
        """Answer with the page."""
        marking = await self.context.marking(assignment)
        progress = await self.context.call(marking.progress)
        requests = await self.context.call(marking.requests)
        self.finish(pages.assignment_page(self.root, self.session, assignment, progress, requests))


class QuestionPage(Handler):
    """Shows all answers to a question."""

    async def get(self, *names: str) -> None:
        """Answer with the page; `?names=1` shows the students' names."""
        place, context = Place(*names), self.context
        marking, question = await context.question(place)
        revision = await context.call(marking.refresh, question)
        rendered = await context.html(marking, question)
        states = [state for state in marking.states(question) if state.group in rendered]
        with_names = self.get_query_argument("names", "") == "1"
        shown = pages.QuestionView(
            place=place,
            question=question,
            siblings=[each.question for each in await context.call(marking.progress)],
            answers=[
                pages.AnswerView(
                    context.shown(place, state),
                    rendered[state.group].html(f"{self.root}{pages.path_of(place)}/picture/{state.group}/"),
                    marking.students(question, state.group) if with_names else [],
                )
                for state in states
            ],
            comments=marking.comments.of(question),
            revision=revision,
            with_names=with_names,
        )
        self.finish(pages.question_page(self.root, self.session, shown))


class Changes(Handler):
    """Sends the states of groups that changed, once there are some."""

    async def get(self, *names: str) -> None:
        """Answer after a change or some seconds; renew what the window holds if a person is there."""
        place, context = Place(*names), self.context
        marking, question = await context.question(place)
        after = self.get_query_argument("after", "0")
        if not after.isdecimal():
            raise Refusal(400, "after must be a number")
        if self.get_query_argument("active", "") == "1":
            context.leases.renew(self.window(self.get_query_argument("tab", "")))
        await context.news(place, marking, question, int(after), WAIT_SECONDS)
        states = [context.shown(place, state) for state in marking.states(question, int(after))]
        comments = msgspec.to_builtins(marking.comments.of(question))
        self.finish({"revision": marking.revision(question), "states": states, "comments": comments})


class _Held(msgspec.Struct):
    tab: str
    group: str = ""


class _Given(msgspec.Struct):
    tab: str
    group: str
    version: str
    points: float | None
    comment: str


class Hold(Handler):
    """Holds an answer for a window."""

    async def post(self, *names: str) -> None:
        """Answer with the state of the group; its holder is another window if that was earlier."""
        place, asked, context = Place(*names), self.form(_Held), self.context
        marking, question = await context.question(place)
        if all(each.group != asked.group for each in marking.states(question)):
            raise Refusal(404, "there is no such answer any more: reload the page")
        window = self.window(asked.tab)
        held = context.leases.release(window)
        context.leases.take((place, asked.group), window)
        await context.held_changed([*held, (place, asked.group)])
        # Its holder may have marked it and gone on meanwhile: holder and state are read at one moment.
        context.leases.take((place, asked.group), window)
        state = next(each for each in marking.states(question) if each.group == asked.group)
        self.finish(context.shown(place, state))


class Release(Handler):
    """Lets go of what a window holds."""

    async def post(self, *names: str) -> None:
        """Answer with nothing."""
        await self.context.release(self.window(self.form(_Held).tab))
        self.finish({})


class Mark(Handler):
    """Gives a mark to all students of a group."""

    async def post(self, *names: str) -> None:
        """Answer with the new state once the gradebook has it; with 409 and the state if another person was faster."""
        place, given, context = Place(*names), self.form(_Given), self.context
        marking, question = await context.question(place)
        window = self.window(given.tab)
        holder = context.leases.holder((place, given.group))
        if holder not in (None, window):
            raise Refusal(423, f"{holder.marker if holder else ''} is marking this answer: nothing was saved")
        try:
            state = await context.call(
                marking.give, question, given.group, given.version, given.points, given.comment, window.marker
            )
        except Stale as stale:
            self.set_status(409)
            state = stale.state
        context.tell(place)
        self.finish(context.shown(place, state))


class _Answered(msgspec.Struct):
    group: str
    request: str
    text: str


class AnswerRequest(Handler):
    """Answers a student's request for a regrade."""

    async def post(self, *names: str) -> None:
        """Answer with the new state of the group."""
        place, said = Place(*names), self.form(_Answered)
        marking, question = await self.context.question(place)
        state = await self.context.call(
            marking.answer_request, question, said.group, said.request, said.text, self.session.marker
        )
        self.context.tell(place)
        self.finish(self.context.shown(place, state))


class Undo(Handler):
    """Takes the marker's last mark back."""

    async def post(self, assignment: str) -> None:
        """Answer with the place and the state; with 409 if another person changed it since."""
        marking = await self.context.marking(assignment)
        try:
            undone = await self.context.call(marking.undo, self.session.marker)
        except Stale as stale:
            self.set_status(409)
            why = f"answer {stale.state.number} was changed after you marked it: it stays as it is"
            self.finish({"error": why, "group": stale.state.group})
            return
        place = Place(assignment, *undone.question.name)
        self.context.tell(place)
        address = f"{self.root}{pages.path_of(place)}"
        self.finish(
            {"address": address, "label": undone.question.label, "state": self.context.shown(place, undone.state)}
        )


class AddComment(Handler):
    """Keeps a comment for use by all markers."""

    async def post(self, *names: str) -> None:
        """Answer with all comments of the question."""
        marking, question = await self.context.question(Place(*names))
        await self.context.call(marking.comments.add, question, self.form(ReusableComment))
        await self._answer(names)

    async def _answer(self, names: tuple[str, ...]) -> None:
        place = Place(*names)
        marking, question = await self.context.question(place)
        await self.context.call(marking.touch, question, [])
        self.context.tell(place)
        self.finish({"comments": msgspec.to_builtins(marking.comments.of(question))})


class ForgetComment(AddComment):
    """Forgets a comment that a marker added."""

    async def post(self, *names: str) -> None:
        """Answer with all comments of the question."""
        marking, question = await self.context.question(Place(*names))
        await self.context.call(marking.comments.remove, question, self.form(ReusableComment).text)
        await self._answer(names)


class History(Handler):
    """Sends what the record says of an answer."""

    async def get(self, assignment: str, notebook: str, cell: str, group: str) -> None:
        """Answer with the entries, the newest first, without the student's name."""
        marking, question = await self.context.question(Place(assignment, notebook, cell))
        entries = await self.context.call(marking.history, question, group)
        fields = ("time", "who", "kind", "before", "after", "why")
        self.finish({"entries": [{name: msgspec.to_builtins(entry).get(name) for name in fields} for entry in entries]})


class Picture(Handler):
    """Sends a picture of an answer."""

    async def get(self, assignment: str, notebook: str, cell: str, group: str, number: str) -> None:
        """Answer with the picture."""
        marking, question = await self.context.question(Place(assignment, notebook, cell))
        found = await self.context.call(marking.picture, question, group, int(number))
        if found is None:
            raise HTTPError(404)
        kind, data = found
        self.set_header("Content-Type", kind)
        self.set_header("Content-Security-Policy", "default-src 'none'; sandbox")
        # Its address has the digest of the answer.
        self.set_header("Cache-Control", "private, max-age=3600")
        self.finish(data)


class Static(Handler):
    """Sends the script and the style sheet, which say nothing about a course: the page of a refusal has styles, too."""

    async def prepare(self) -> None:
        """Ask for no session."""

    async def get(self, name: str) -> None:
        """Answer with the file."""
        self.set_header("Content-Type", f"{STATIC[name]}; charset=utf-8")
        self.finish(pages.static(name))


class NotFound(Handler):
    """Answers at all other addresses."""

    async def prepare(self) -> None:
        """Answer with 404 to those who may mark."""
        await super().prepare()
        raise HTTPError(404)


def application(context: MarkingContext, root: str) -> Application:
    """Return tornado's application.

    Args:
        context: what the handlers share.
        root: the beginning of all addresses; it ends with a slash.
    """
    question = f"{root}([^/]+)/([^/]+)/([^/]+)"
    rules: list[Any] = [
        (root, HomePage),
        (f"{root}(mark\\.js|mark\\.css)", Static),
        (f"{root}([^/]+)/", AssignmentPage),
        (f"{root}([^/]+)/undo", Undo),
        (question, QuestionPage),
        (f"{question}/changes", Changes),
        (f"{question}/hold", Hold),
        (f"{question}/release", Release),
        (f"{question}/mark", Mark),
        (f"{question}/answer", AnswerRequest),
        (f"{question}/comment", AddComment),
        (f"{question}/forget", ForgetComment),
        (f"{question}/history/([0-9a-f]+)", History),
        (f"{question}/picture/([0-9a-f]+)/([0-9]{{1,4}})", Picture),
    ]
    return Application(
        [*rules, *context.access.handlers()],
        context=context,
        root=root,
        default_handler_class=NotFound,
        cross_origin_protection=True,
        # Only for the hub's cookies. After a restart the hub logs a browser in again by itself.
        cookie_secret=secrets.token_bytes(32),
        log_function=_log,
    )


def _log(handler: RequestHandler) -> None:
    """Log a request without its query and headers, which may hold secrets."""
    request = handler.request
    path, milliseconds = one_line(request.path, 200), 1000 * request.request_time()
    log.info("%d %s %s %.0f ms", handler.get_status(), request.method, path, milliseconds)
