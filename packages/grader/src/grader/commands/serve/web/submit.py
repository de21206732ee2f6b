"""Accepts hand-ins: reads a notebook within limits, and answers with a receipt once it is on disk."""

import asyncio
from datetime import datetime
from functools import partial

from tornado.web import stream_request_body

from grader.commands.serve.policy import Attempts, Refusal, require_object
from grader.commands.serve.web.handler import Handler
from grader.text import one_line


@stream_request_body
class SubmitHandler(Handler):
    """Stores a notebook and answers with a receipt."""

    async def prepare(self) -> None:
        """Refuse an unacceptable hand-in before its body arrives."""
        self._content = bytearray()
        self._cleanup.callback(self._forget)
        max_mb = max(each.limits.notebook_mb for each in self.service.assignments.values())
        self._max_bytes = min(max_mb, self.service.limits.student_mb) * 2**20
        # The body of a refused hand-in is read nevertheless, so that the client reads the answer.
        self.request.connection.set_max_body_size(self._max_bytes)  # type: ignore[union-attr]
        await super().prepare()
        if self._finished:
            return
        try:
            self._require_acceptable()
        except Refusal as refusal:
            self.refuse(refusal)
            return
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
        # After a client hangs up, its notebook counts as long as it is in memory.
        with self._cleanup.pop_all():
            await self._store(assignment, notebook)

    async def _store(self, assignment: str, notebook: str) -> None:
        service = self.service
        try:
            if not self._content:
                raise Refusal(400, "the notebook is empty: send the file as the body of the request")
            if service.dispatcher.queue.waiting(self.student) >= service.limits.waiting:
                raise Refusal(
                    429, f"{service.limits.waiting} of your notebooks are waiting: wait for their reports", 10
                )
            content = bytes(self._content)
            # A file that is not JSON must not supersede a waiting notebook.
            await service.in_store_thread(require_object, content)
            # Reading the gradebook takes time while another program writes it, so it is read only if the due date
            # decides, and before the store is locked.
            due = None
            if service.rules[assignment].late == "refuse":
                due = await service.in_store_thread(service.due, assignment, self.student)
            require_allowed = partial(self._require_allowed, assignment, due)
            work = self.student, assignment, notebook
            others = service.uploads.arrived(self.student) - len(content)
            room = service.limits.student_mb * 2**20 - others
            row, is_new = await service.in_store_thread(service.store.accept, *work, content, room, require_allowed)
            if is_new:
                service.metrics.accepted.inc()
                service.dispatcher.add(row)
            await self.send_state(row, 202)
        except Refusal as refusal:
            self.refuse(refusal)

    def _require_acceptable(self) -> None:
        assignment, notebook = self.path_args
        if assignment not in self.service.assignments:
            raise Refusal(404, f"there is no assignment {one_line(assignment, 100)!r}")
        if notebook not in self.service.assignments[assignment].sources:
            raise Refusal(404, f"{assignment} has no notebook {one_line(notebook, 100)!r}: use its name without .ipynb")
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > self._max_bytes:
            raise self._too_large()

    def _require_allowed(self, assignment: str, due: datetime | None, now: datetime, attempts: Attempts) -> None:
        self.service.rules[assignment].require_allowed(now, due, attempts)

    def _too_large(self) -> Refusal:
        return Refusal(413, f"a notebook may have {self._max_bytes / 2**20:g} MB: clear its outputs, and save it")

    def _give_up(self, refusal: Refusal) -> None:
        """Refuse in the middle of a body, and close the connection, because the rest would only cost time."""
        self.set_header("Connection", "close")
        self.refuse(refusal)
        stream = self.request.connection.stream  # type: ignore[union-attr]
        asyncio.get_running_loop().call_later(1, stream.close)

    def _forget(self) -> None:
        self._content = bytearray()
