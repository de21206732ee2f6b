"""Delivers feedback pages: to programs with a token, and to any browser by a one-time link, with a form for requests.

POST feedback/ASSIGNMENT/NOTEBOOK --> marks, requests, link        GET hand-in/ID/feedback --> page
GET open/SECRET --> cookie, 303 --> GET page/KEY [/marked]          POST page/KEY --> request, 303
POST request/ASSIGNMENT/NOTEBOOK --> 201, request
"""

import hmac
from pathlib import Path
from typing import Any

import msgspec

from grader.classroom.page.summary import RequestForm, styles, templates, with_requests
from grader.commands.serve.policy import Refusal
from grader.commands.serve.web.handler import Handler
from grader.commands.serve.web.links import LINK_SECONDS, PAGE_SECONDS, OpenPage, View
from grader.text import one_line

COOKIE = "feedback"
STYLED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
PAGE_POLICY = f"{STYLED}form-action 'none'; frame-ancestors 'self'; sandbox allow-popups"
"""Permissions of a feedback page in a browser: its own styles and pictures, and nothing else."""
FORM_POLICY = f"{STYLED}form-action 'self'; frame-ancestors 'none'; sandbox allow-popups allow-forms allow-same-origin"
"""The same for a page with a form. Browsers call a form of a page without an origin a form of another site."""
AGAIN = "run hand_in() or feedback() in your notebook again for a new link"
MARKED = "marked"
"""The end of the address of the marked work, where a newer hand-in has a page, too."""
TO_MARKS, NEWEST = "Open the page with the marks", "Open the page of the newest hand-in"
_templates = templates(Path(__file__).with_name("templates"), {})


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request for a regrade: what the student wrote, and the exercise, '' for the whole notebook."""

    text: str
    exercise: str = ""


class PageHandler(Handler):
    """Sends the feedback page of a hand-in, or that of the marked work if it is newer."""

    async def get(self, key: str) -> None:
        """Answer with the page if the student may see it yet."""
        row = await self.own(key)
        view = View(row.student, row.assignment, row.notebook, row.id)
        shown = await self.service.in_store_thread(self.service.feedback_page, view)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", PAGE_POLICY)
        self.finish(with_requests(shown.html, shown.requests))


class FeedbackHandler(Handler):
    """Tells a student what became of a notebook, however it was handed in, and makes a link to its page."""

    async def post(self, assignment: str, file: str) -> None:
        """Answer with marks, requests, the hand-in that counts and a link; `?hand-in=ID` links to the page of that one.

        The link is null as long as there is no page that the student may see.
        """
        assignment, notebook = self.work(assignment, file)
        view = View(self.student, assignment, notebook, self.get_query_argument("hand-in", ""))
        if view.hand_in:
            row = await self.own(view.hand_in)
            if (row.assignment, row.notebook) != (view.assignment, view.notebook):
                raise Refusal(404, "this hand-in is of another notebook")
        form = await self.service.in_store_thread(self.service.feedback, view)
        link = None
        if form.pop("has_page"):
            link = f"{self.service.identity.public}open/{self.service.links.offer(view)}"
        self.set_status(201)
        self.finish(form | {"link": link, "link_seconds": LINK_SECONDS})


class RegradeHandler(Handler):
    """Takes a student's request for a regrade."""

    async def post(self, assignment: str, file: str) -> None:
        """Record the request, `{"exercise": "", "text": "..."}`, and answer with it."""
        assignment, notebook = self.work(assignment, file)
        try:
            wanted = msgspec.json.decode(self.request.body, type=Wanted)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(400, f"a request is JSON with a text and an exercise ({one_line(error, 200)})") from None
        names = self.student, assignment, notebook, wanted.exercise
        request = await self.service.in_store_thread(self.service.ask, *names, wanted.text)
        self.set_status(201)
        self.finish(request.as_json())


class _BrowserHandler(Handler):
    """Answers a person at a browser, who has no token, so refusals are pages, too."""

    def refuse(self, refusal: Refusal) -> None:
        """Answer with a page that has the reason."""
        if not self._finished:
            self.set_status(refusal.status)
            self._finish_page(_templates.get_template("refusal.html.j2").render(why=refusal.why, styles=styles()))

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with a page that has the reason."""
        error = details.get("exc_info", (None, None))[1]
        self.refuse(error if isinstance(error, Refusal) else Refusal(status_code, self.reason_of(status_code)))

    def _finish_page(self, html: str) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", FORM_POLICY)
        # Without a referrer, browsers send a form without its origin.
        self.set_header("Referrer-Policy", "same-origin")
        self.finish(html)


class OpenHandler(_BrowserHandler):
    """Uses up a one-time link: the browser gets a cookie for one page, and goes there."""

    needs_student = False

    async def get(self, secret: str) -> None:
        """Answer with the cookie."""
        opened = self.service.links.open(secret)
        if opened is None:
            minutes = LINK_SECONDS // 60
            why = f"a link works once, within {minutes} minutes, and until the service is started again: {AGAIN}"
            raise Refusal(410, why)
        key, page = opened
        path = f"{self.settings['prefix']}page/{key}"
        is_secure = "https" in (self.request.protocol, self.request.headers.get("X-Forwarded-Proto"))
        self.set_cookie(
            COOKIE, page.cookie, path=path, max_age=PAGE_SECONDS, httponly=True, samesite="Lax", secure=is_secure
        )
        self.redirect(path, status=303)


class OpenPageHandler(_BrowserHandler):
    """Shows an open page, and takes the requests that a student writes on it."""

    async def identify(self) -> str | None:
        """Return the student whose page it is."""
        opened = self.service.links.page(self.path_args[0], self.get_cookie(COOKIE) or "")
        if opened is None:
            raise Refusal(410, f"this page is closed, or the browser did not keep its cookie: {AGAIN}")
        self._opened = opened
        return opened.student

    async def get(self, key: str, which: str | None = None) -> None:
        """Answer with the page, or with that of the marked work at its own address."""
        await self._show(key, self._opened, which == MARKED)

    async def post(self, key: str, which: str | None = None) -> None:
        """Record a request, and show the page with it; after a refusal, with what the student wrote."""
        view, sent = self._opened.view, self.get_body_argument("key", "")
        if not hmac.compare_digest(sent.encode(), self._opened.form.encode()):
            raise Refusal(403, "this request does not come from the page: reload the page")
        # Browsers send a line break as two characters.
        text = self.get_body_argument("text", "", strip=False).replace("\r\n", "\n")
        exercise = self.get_body_argument("exercise", "")
        try:
            names = view.student, view.assignment, view.notebook, exercise
            await self.service.in_store_thread(self.service.ask, *names, text)
        except Refusal as refusal:
            self.set_status(refusal.status)
            await self._show(key, self._opened, which == MARKED, text, exercise, f"Not sent: {refusal.why}.")
            return
        self.redirect(f"{self.request.path}#requests", status=303)

    async def _show(
        self, key: str, opened: OpenPage, is_marked: bool, text: str = "", exercise: str = "", error: str = ""
    ) -> None:
        view, page = opened.view, f"{self.settings['prefix']}page/{key}"
        shown = await self.service.in_store_thread(self.service.feedback_page, view, is_marked)
        exercises = self.service.exercises[view.assignment, view.notebook]
        link, link_text = (page, NEWEST) if is_marked else (f"{page}/{MARKED}", TO_MARKS)
        form = RequestForm(
            self.request.path, opened.form, exercises, text, exercise, error, shown.other,
            link if shown.has_other else "", link_text,
        )  # fmt: skip
        self._finish_page(with_requests(shown.html, shown.requests, form))
