"""Uploads and connections have room for a client that takes little of them."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tornado.netutil import bind_sockets
from tornado.web import RequestHandler
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.record.record import Record
from grader.classroom.returned import ReturnedFolder
from grader.classroom.student import grade_submission
from grader.commands.serve.databases import Deadlines
from grader.commands.serve.dispatch import Dispatcher
from grader.commands.serve.metrics import Metrics
from grader.commands.serve.policy import Refusal, SubmissionPolicy
from grader.commands.serve.source_watch import SourceWatch
from grader.commands.serve.store import DATABASE, Store
from grader.commands.serve.web.app import application
from grader.commands.serve.web.context import ServiceContext
from grader.commands.serve.web.limits import BoundedServer, ServiceLimits, Uploads


def test_student_mb_bound_what_is_received() -> None:
    """Of all hand-ins of a student that arrive together; another student's arrive meanwhile."""
    uploads = Uploads(ServiceLimits(upload_mb=8, student_mb=2))
    with uploads.receive("eve") as first, uploads.receive("eve") as second, uploads.receive("ann") as other:
        first(2**20)
        second(2**20)
        for count in (first, second):
            with pytest.raises(Refusal) as refused:
                count(1)
            assert refused.value.status == 429 and refused.value.retry_after
        other(2**21)
        assert uploads.arrived("eve") == uploads.arrived("ann") == 2**21
    assert uploads.total() == uploads.arrived("eve") == 0


def test_upload_mb_have_a_reserve_for_first_uploads() -> None:
    """Uploads beside another one of the same student fill half of the room; the rest is for students who send one."""
    uploads = Uploads(ServiceLimits(upload_mb=4, student_mb=4))
    with uploads.receive("eve") as first, uploads.receive("eve") as second:
        first(2**20)
        second(2**20)
        with pytest.raises(Refusal) as refused:
            second(1)
        assert refused.value.status == 503 and refused.value.retry_after
        with uploads.receive("ann") as other:
            other(2**21)
            for full in (first, other):
                with pytest.raises(Refusal, match="too many notebooks arrive"):
                    full(1)
        first(2**21)
    with uploads.receive("eve") as first:
        first(2**22)


def test_connections_of_strangers_give_way(tmp_path: Path) -> None:
    """As long as a slow hub has not said who asks, a connection is closed for a newer one."""
    asked = []

    class Hub:
        public = ""

        async def student(self, _: RequestHandler) -> str | None:
            asked.append(asyncio.get_running_loop().create_future())
            await asked[-1]
            raise Refusal(401, "unknown")

        def handlers(self) -> list[Any]:
            return []

    async def answers() -> tuple[bytes, list[bytes]]:
        store, metrics = Store(f"sqlite:///{tmp_path / DATABASE}"), Metrics()
        dispatcher = Dispatcher(store, {}, 1, metrics, grade_submission)
        deadlines = Deadlines(f"sqlite:///{tmp_path / 'gradebook.db'}")
        record = Record(tmp_path)
        service = ServiceContext(
            {}, SubmissionPolicy(), ServiceLimits(), Hub(), store, deadlines, LatePenalty(Config()), dispatcher,
            metrics, record, ReturnedFolder(tmp_path), SourceWatch(CourseDir(tmp_path, Config()), {}),
        )  # fmt: skip
        service.server = BoundedServer(application(service, "/"), max_connections=2)
        service.server.add_sockets(sockets := bind_sockets(0, "127.0.0.1"))
        streams = []
        for path in ("", "", "health"):
            reader, writer = await asyncio.open_connection(*sockets[0].getsockname())
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            streams.append((reader, writer))
            while len(asked) < min(len(streams), 2):
                await asyncio.sleep(0.01)
        health = await streams[2][0].read()
        for each in asked:
            each.set_result(None)
        answered = [await reader.read() for reader, _ in streams[:2]]
        for _, writer in streams:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        return health, answered

    health, strangers = asyncio.run(answers())
    assert b" 200 OK" in health and strangers[0] == b"" and b" 401 " in strangers[1]
