"""Defines the base class of all handlers: identification, headers and refusals."""

from contextlib import ExitStack
from typing import Any

from tornado.web import Finish, RequestHandler

from grader.commands.serve.policy import Refusal
from grader.commands.serve.store import WAITING, SubmissionRow
from grader.commands.serve.web.context import ServiceContext
from grader.text import one_line

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
REASONS = {
    400: "this request is not valid HTTP for this address",
    403: "this request comes from another site",
    404: "there is nothing at this address",
    405: "this address does not know this method",
    500: "the service failed; what was accepted is kept, so try again in a minute",
}


class Handler(RequestHandler):
    """Answers in JSON, and identifies the student."""

    needs_student = True
    student = ""

    def initialize(self) -> None:
        """Get the context of the service."""
        self.service: ServiceContext = self.settings["service"]
        self._cleanup = ExitStack()

    def set_default_headers(self) -> None:
        """Forbid browsers everything that a JSON answer does not need."""
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    async def prepare(self) -> None:
        """Identify the student, and count the request."""
        if not self.needs_student:
            return
        student = await self.identify()
        if student is None:
            raise Finish
        self.student = student
        self._cleanup.enter_context(self.service.rates.request(student))
        # Not earlier: while the hub looks up tokens, unidentified connections must give way to others.
        stream = self.request.connection.stream  # type: ignore[union-attr]
        self.service.server.busy(stream)
        self._cleanup.callback(self.service.server.idle, stream)

    async def identify(self) -> str | None:
        """Return the student who sends the request, or None if it is already answered; raise Refusal for others."""
        return await self.service.identity.student(self)

    def reason_of(self, status: int) -> str:
        """Return the reason for which tornado refuses a request."""
        return REASONS.get(status, self._reason)

    def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal unless the request is answered."""
        if self._finished:
            return
        self.set_status(refusal.status)
        if refusal.retry_after is not None:
            self.set_header("Retry-After", str(max(1, round(refusal.retry_after))))
        if refusal.status == 401:
            self.set_header("WWW-Authenticate", "Bearer")
        self.finish({"error": refusal.why})

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the refusal that a method raised, or explain why tornado refuses a request."""
        error = details.get("exc_info", (None, None))[1]
        if isinstance(error, Refusal):
            self.refuse(error)
        else:
            self.finish({"error": self.reason_of(status_code)})

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log an exception that is not a refusal."""
        if not isinstance(value, Refusal):
            super().log_exception(typ, value, tb)

    def on_finish(self) -> None:
        """Release the request's share of the limits."""
        self._cleanup.close()

    def on_connection_close(self) -> None:
        """Release the request's share of the limits when its client is gone."""
        super().on_connection_close()
        self._cleanup.close()

    def work(self, folder: str, file: str) -> tuple[str, str]:
        """Return the assignment and the notebook that a folder and a file are named after.

        A browser or a file manager may have numbered both.

        Args:
            folder: the folder's name, from the address.
            file: the file's name, from the address.

        Raises:
            Refusal: there is no such assignment or notebook.
        """
        assignment = self.service.matcher.by_name(folder)
        if assignment is None:
            names = ", ".join(self.service.assignments)
            to_do = f"put the notebook into a folder with the name of one ({names})"
            raise Refusal(404, f"there is no assignment {one_line(folder, 100)!r}: {to_do}")
        served = self.service.assignments[assignment.notebook]
        found = served.chooser.matcher.by_name(file)
        if found is None:
            to_do = f"give the file the name of its notebook again ({', '.join(served.sources)})"
            raise Refusal(404, f"{served.name} has no notebook {one_line(file, 100)!r}: {to_do}")
        return served.name, found.notebook

    async def own(self, key: str) -> SubmissionRow:
        """Return a hand-in of the student; raise Refusal for anything else, as if it did not exist."""
        row = await self.service.in_store_thread(self.service.store.get, key)
        if row is None or row.student != self.student:
            raise Refusal(404, "you have no hand-in with this id")
        return row

    async def send_state(self, row: SubmissionRow, status: int = 200, late: str = "") -> None:
        """Answer with the state of a hand-in, and with how late it is."""
        form = await self.service.in_store_thread(self.service.receipt, row)
        if late:
            form["late"] = late
        if row.state == WAITING:
            # 0: it has left the queue, and its state changes in a moment.
            form["place"] = self.service.dispatcher.queue.place(row.ticket) or 0
        self.set_status(status)
        self.finish(form)
