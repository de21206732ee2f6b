"""Defines the handlers for submission states, reports, assignments and feedback pages."""

from typing import Any

from tornado.web import HTTPError

from grader.commands.serve.policy import EVERYTHING, Refusal, shown
from grader.commands.serve.table import GRADED, GRADING, WAITING
from grader.commands.serve.web.context import iso
from grader.commands.serve.web.handler import Handler
from grader.text import one_line

PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-popups"
)
"""Permissions of a feedback page in a browser: its own styles and pictures, and nothing else."""


class StateHandler(Handler):
    """Sends the state of a hand-in, with its report once it is graded."""

    async def get(self, key: str) -> None:
        """Answer at once, or with `?wait=SECONDS` after a change of the state."""
        try:
            row = await self.own(key)
            if row.state in (WAITING, GRADING) and (seconds := self._seconds()):
                await self.service.dispatcher.changed(key, seconds)
                row = await self.own(key)
            await self.send_state(row)
        except Refusal as refusal:
            self.refuse(refusal)

    def _seconds(self) -> float:
        text = self.get_query_argument("wait", "0")
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not seconds >= 0:
            raise Refusal(400, f"wait must be a number of seconds; got {one_line(text, 20)!r}")
        return min(seconds, self.service.limits.wait_seconds)


class PageHandler(Handler):
    """Sends the feedback page of a hand-in."""

    async def get(self, key: str) -> None:
        """Answer with the page if the student may see it yet."""
        service = self.service
        try:
            row = await self.own(key)
            if row.state != GRADED:
                raise Refusal(409, f"this hand-in has no page: it is {row.state}", 1)
            form = await service.in_store_thread(service.receipt, row)
            if form["told"] != EVERYTHING:
                raise Refusal(403, "the page is available after the due time; until then read the report")
            page = await service.in_store_thread(service.store.page, key)
            if page is None:
                raise Refusal(
                    404, "the page of this hand-in is no longer kept, because a newer or better one has a page"
                )
        except Refusal as refusal:
            self.refuse(refusal)
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", PAGE_POLICY)
        self.finish(page)


class OverviewHandler(Handler):
    """Sends a student the assignments, their times, and the attempts."""

    async def get(self) -> None:
        """Answer with all assignments."""
        try:
            self.finish(await self.service.in_store_thread(self._overview))
        except Refusal as refusal:
            self.refuse(refusal)

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
        """Answer with the numbers of waiting and running hand-ins, from memory, because anyone may ask at any rate."""
        dispatcher = self.service.dispatcher
        self.finish({"status": "ok", "hand_ins": {WAITING: len(dispatcher.queue), GRADING: dispatcher.under_way()}})


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
