"""Defines the handlers and their addresses.

    POST hand-in/ASSIGNMENT/NOTEBOOK --> 202, receipt        GET / , health, metrics
    GET  hand-in/ID?wait=SECONDS --> state, report           pages.py: feedback pages and requests for a regrade

Names from an address are looked up in the sources and the store, and never become a path.
"""

import asyncio
import logging
import re
import secrets
from datetime import datetime
from functools import partial
from typing import Any

from tornado.web import Application, HTTPError, RequestHandler, stream_request_body

from grader.commands.serve.policy import Attempts, Refusal, fingerprint, shown
from grader.commands.serve.store import GRADING, WAITING
from grader.commands.serve.web.context import ServiceContext, iso
from grader.commands.serve.web.handler import Handler
from grader.commands.serve.web.pages import (
    MARKED,
    FeedbackHandler,
    OpenHandler,
    OpenPageHandler,
    PageHandler,
    RegradeHandler,
)
from grader.text import one_line

log = logging.getLogger("grader.commands.serve")
SECRET_PATH = re.compile(r"(/open/).*")
CONFIRMED = "late"
"""The query argument with which a student confirms a late hand-in that costs points."""


@stream_request_body
class SubmitHandler(Handler):
    """Stores a notebook and answers with a receipt."""

    async def prepare(self) -> None:
        """Refuse an unacceptable hand-in before its body arrives."""
        self._content = bytearray()
        self._cleanup.callback(self._content.clear)
        max_mb = max(each.limits.notebook_mb for each in self.service.assignments.values())
        self._max_bytes = min(max_mb, self.service.limits.student_mb) * 2**20
        # The body of a refused hand-in is read nevertheless, so that the client reads the answer.
        self.request.connection.set_max_body_size(self._max_bytes)  # type: ignore[union-attr]
        await super().prepare()
        if self._finished:
            return
        self._require_acceptable()
        self._count = self._cleanup.enter_context(self.service.uploads.receive(self.student))
        # From here on data_received counts the bytes, and explains a refusal, where tornado would only close.
        self.request.connection.set_max_body_size(2**62)  # type: ignore[union-attr]
        too_slow = Refusal(408, f"the notebook did not arrive within {self.service.limits.body_seconds} seconds")
        timer = asyncio.get_running_loop().call_later(self.service.limits.body_seconds, self._give_up, too_slow)
        self._cleanup.callback(timer.cancel)

    def data_received(self, chunk: bytes) -> None:
        """Store a part of the body."""
        try:
            if len(self._content) + len(chunk) > self._max_bytes:
                raise self._too_large()
            self._count(len(chunk))
            self._content += chunk
        except Refusal as refusal:
            self._give_up(refusal)

    async def post(self, assignment: str, notebook: str) -> None:
        """Store the notebook and answer with its receipt."""
        assignment, notebook = self.work(assignment, notebook)
        service, rules = self.service, self.service.rules[assignment]
        # After a client hangs up, its notebook counts as long as it is in memory.
        with self._cleanup.pop_all():
            if not self._content:
                raise Refusal(400, "the notebook is empty: send the file as the body of the request")
            if service.dispatcher.queue.waiting(self.student) >= service.limits.waiting:
                waiting = f"{service.limits.waiting} of your notebooks are waiting: wait for their reports"
                raise Refusal(429, waiting, 10)
            content = bytes(self._content)
            # A file that is not a notebook must not supersede a waiting one.
            source = service.assignments[assignment].sources[notebook]
            identify = partial(fingerprint, notebook=notebook, source=source)
            answers = await service.in_parser_thread(self.student, identify, content)
            # Reading the gradebook takes time while another program writes it, so it is read before the store is
            # locked.
            due, late, cost = None, "", ""
            if rules.late == "refuse":
                due = await service.in_store_thread(service.due, assignment, self.student)
            else:
                late, cost = await service.in_store_thread(service.lateness, assignment, notebook, self.student)

            def require_allowed(now: datetime, attempts: Attempts) -> None:
                rules.require_allowed(due, now, attempts)
                if cost and not self.get_query_argument(CONFIRMED, ""):
                    raise Refusal(409, cost)

            others = service.uploads.arrived(self.student) - len(content)
            room = service.limits.student_mb * 2**20 - others
            work, store = (self.student, assignment, notebook), service.store
            await service.in_store_thread(store.add_fingerprint, *work, identify)
            row, is_new = await service.in_store_thread(store.accept, *work, content, answers, room, require_allowed)
            if is_new:
                service.metrics.accepted.inc()
                service.dispatcher.add(row)
            await self.send_state(row, 202, late if is_new else "")

    def _require_acceptable(self) -> None:
        self.work(*self.path_args)
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > self._max_bytes:
            raise self._too_large()

    def _too_large(self) -> Refusal:
        return Refusal(413, f"a notebook may have {self._max_bytes / 2**20:g} MB: clear its outputs, and save it")

    def _give_up(self, refusal: Refusal) -> None:
        """Refuse in the middle of a body, and close the connection, because the rest would only cost time."""
        self.set_header("Connection", "close")
        self.refuse(refusal)
        stream = self.request.connection.stream  # type: ignore[union-attr]
        asyncio.get_running_loop().call_later(1, stream.close)


class StateHandler(Handler):
    """Sends the state of a hand-in, with its report once it is graded."""

    async def get(self, key: str) -> None:
        """Answer at once, or with `?wait=SECONDS` after a change of the state."""
        row = await self.own(key)
        if row.state in (WAITING, GRADING) and (seconds := self._seconds()):
            await self.service.dispatcher.changed(key, seconds)
            row = await self.own(key)
        await self.send_state(row)

    def _seconds(self) -> float:
        text = self.get_query_argument("wait", "0")
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not seconds >= 0:
            raise Refusal(400, f"wait must be a number of seconds; got {one_line(text, 20)!r}")
        return min(seconds, self.service.limits.wait_seconds)


class OverviewHandler(Handler):
    """Sends a student the assignments, their times, and the attempts."""

    async def get(self) -> None:
        """Answer with all assignments."""
        self.finish(await self.service.in_store_thread(self._overview))

    def _overview(self) -> dict[str, Any]:
        return {"student": self.student, "assignments": {name: self._one(name) for name in self.service.assignments}}

    def _one(self, name: str) -> dict[str, Any]:
        service, rules = self.service, self.service.rules[name]
        due, counting = service.due(name, self.student), service.store.counting(self.student, name)
        notebooks = {}
        for notebook in service.assignments[name].sources:
            used, row = service.store.attempts(self.student, name, notebook).used, counting.get(notebook)
            notebooks[notebook] = {
                "attempts": used,
                "attempts_left": rules.left(used),
                "counts": None if row is None else {"id": row.id, "points": row.points, "received": iso(row.received)},
            }
        return {
            "open": rules.open or None,
            "due": shown(due) if due else None,
            "late": rules.late,
            "counts": rules.counts,
            "notebooks": notebooks,
        }


class HealthHandler(Handler):
    """Answers health checks, without a token."""

    needs_student = False

    def get(self) -> None:
        """Answer with the numbers of waiting and running hand-ins, and with assignments that have changed.

        All of it comes from memory, because anyone may ask at any rate.
        """
        dispatcher = self.service.dispatcher
        hand_ins = {WAITING: len(dispatcher.queue), GRADING: dispatcher.under_way()}
        self.finish({"status": "ok", "hand_ins": hand_ins, "outdated": self.service.watch.outdated})


class MetricsHandler(Handler):
    """Sends the metrics, which contain no names, without a token."""

    needs_student = False

    def get(self) -> None:
        """Answer in the text format of Prometheus."""
        self.service.metrics.connections.set(self.service.server.connections())
        self.service.metrics.uploads.set(self.service.uploads.total())
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(self.service.metrics.text())


class NotFound(Handler):
    """Answers at all other addresses."""

    needs_student = False

    async def prepare(self) -> None:
        """Answer with 404."""
        await super().prepare()
        raise HTTPError(404)


def application(service: ServiceContext, prefix: str) -> Application:
    """Return tornado's application.

    Args:
        service: the context that the handlers share.
        prefix: the beginning of all addresses.
    """
    rules: list[Any] = [
        (f"{prefix}", OverviewHandler),
        (f"{prefix}health", HealthHandler),
        (f"{prefix}metrics", MetricsHandler),
        (f"{prefix}hand-in/([^/]+)", StateHandler),
        (f"{prefix}hand-in/([^/]+)/feedback", PageHandler),
        (f"{prefix}hand-in/([^/]+)/([^/]+)", SubmitHandler),
        (f"{prefix}request/([^/]+)/([^/]+)", RegradeHandler),
        (f"{prefix}feedback/([^/]+)/([^/]+)", FeedbackHandler),
        (f"{prefix}open/([^/]+)", OpenHandler),
        (f"{prefix}page/([^/]+)(?:/({MARKED}))?", OpenPageHandler),
    ]
    return Application(
        [*rules, *service.identity.handlers()],
        service=service,
        prefix=prefix,
        default_handler_class=NotFound,
        cross_origin_protection=True,
        # Only for the hub's cookies. After a restart the hub logs a browser in again by itself.
        cookie_secret=secrets.token_bytes(32),
        log_function=_log,
    )


def _log(handler: RequestHandler) -> None:
    """Log a request without its query, its headers and the secret of a link."""
    request, status = handler.request, handler.get_status()
    handler.settings["service"].metrics.requests.labels(str(status)).inc()
    path = one_line(SECRET_PATH.sub(r"\1…", request.path), 200)
    log.info("%d %s %s %.0f ms", status, request.method, path, 1000 * request.request_time())
