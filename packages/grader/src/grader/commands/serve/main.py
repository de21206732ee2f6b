"""Starts and stops the service.

main thread: writes results, waits for signals        server thread: event loop with requests and queue
"""

import asyncio
import logging
import os
import resource
import signal
import socket
import ssl
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.record.record import Record
from grader.classroom.returned import ReturnedFolder
from grader.classroom.source.student_zero import sound
from grader.classroom.student import grade_submission, load_assignment
from grader.classroom.web.hub import HUB_URL, PREFIX
from grader.commands.serve.databases import open_databases, settle_due_dates
from grader.commands.serve.dispatch import Dispatcher
from grader.commands.serve.metrics import Metrics
from grader.commands.serve.policy import SubmissionPolicy
from grader.commands.serve.source_watch import LOOK_SECONDS, SourceWatch
from grader.commands.serve.web.app import application
from grader.commands.serve.web.context import ServiceContext
from grader.commands.serve.web.identity import Tokens, identity
from grader.commands.serve.web.limits import BoundedServer, ServiceLimits
from grader.commands.serve.worker import Grade, Writer
from grader.commands.shared import LOCAL, SERVE_LOCK, host_and_port
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor.pool import side_by_side
from grader.errors import GraderError
from grader.files import locked

ADDRESS = "127.0.0.1:8765"
"""The default address; Jupyter uses 8888 and the ports above it, the hub 8000 and 8081."""
SPARE_FILES = 512
"""Open files besides the connections: databases, notebooks, pipes to grading processes."""
STOP_SECONDS = 20
"""Seconds that a stopping service waits for running jobs. The next start grades the others."""
log = logging.getLogger("grader.commands.serve")


@dataclass(frozen=True)
class Options:
    """The options of `grader serve`.

    `bind` is HOST:PORT, `jobs` the number of notebooks graded at a time (0 for one per core); `certfile` and `keyfile`
    are for TLS. `anyway` serves although our own solution fails a test. `grade` grades a submission, here by default.
    On a cluster, `jobs` is the cluster's number.
    """

    bind: str = ""
    jobs: int = 0
    grade: Grade | None = None
    sandbox: bool = True
    certfile: Path | None = None
    keyfile: Path | None = None
    anyway: bool = False


def serve(course_dir: CourseDir, options: Options) -> int:
    """Serve a course folder until SIGTERM or Ctrl-C; return the exit status.

    Args:
        course_dir: the course folder.
        options: the options of the command.

    Raises:
        GraderError: another service uses the folder, a source is broken, or the address or a certificate is unusable.
        UnsoundSource: our own solution fails a test, and no option or setting allows that.
        SandboxUnavailable: the kernel cannot confine student code.
    """
    if options.sandbox and options.grade is None:
        confinement.check()
    logging.basicConfig(format="%(asctime)s %(message)s")
    log.setLevel(logging.INFO)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(course_dir.root / SERVE_LOCK))
        except BlockingIOError:
            raise GraderError(f"another 'grader serve' uses {course_dir.root}: stop it first") from None
        return _Serving(course_dir, options).run()


class _Serving:
    """A service from start to stop."""

    def __init__(self, course_dir: CourseDir, options: Options) -> None:
        self._options = options
        rules, limits = SubmissionPolicy(course_dir.config), ServiceLimits(config=course_dir.config)
        names = course_dir.assignments()
        if not names:
            raise GraderError(f"{course_dir.root} has no assignment in source/: put one there, and start again")
        if unknown := sorted(rules.assignments.keys() - set(names)):
            raise GraderError(
                f"c.SubmissionPolicy.assignments names {unknown[0]!r}, and source/ has {', '.join(names) or 'none'}"
            )
        loaded = (load_assignment(course_dir, name, sandbox=options.sandbox) for name in names)
        check = partial(sound, course_dir, anyway=options.anyway, note=log.warning, jobs=options.jobs)
        assignments = {each.name: check(each) for each in loaded}
        who = identity(course_dir.root)
        if isinstance(who, Tokens) and not len(who.accounts):
            log.warning("no student has a token yet: run 'grader tokens ROSTER.csv'")
        self._host, self._port = host_and_port(options.bind or os.environ.get(HUB_URL, "") or ADDRESS)
        self._tls = _tls(options)
        if self._tls is None and self._host not in LOCAL and PREFIX not in os.environ:
            log.warning("tokens travel in the clear: use --certfile and --keyfile, or a proxy on this machine")
        settle_due_dates(course_dir, {name: rules.for_assignment(name) for name in names})
        self._store, self._deadlines = open_databases(course_dir)
        metrics = Metrics()
        at_once = options.jobs if options.grade else side_by_side(options.jobs)
        self._dispatcher = Dispatcher(self._store, assignments, at_once, metrics, options.grade or grade_submission)
        self._writer = Writer(course_dir, self._store, assignments, self._dispatcher.written)
        self._limits = limits
        self._service = ServiceContext(
            assignments, rules, limits, who, self._store, self._deadlines, LatePenalty(course_dir.config),
            self._dispatcher, metrics, Record(course_dir.root), ReturnedFolder(course_dir.root),
            SourceWatch(course_dir, assignments),
        )  # fmt: skip

    def run(self) -> int:
        _allow_files(self._limits.connections + SPARE_FILES)
        try:
            sockets = bind_sockets(self._port, self._host)
        except OSError as error:
            raise GraderError(
                f"cannot listen at {self._host}:{self._port} ({error.strerror}): choose another address with --bind"
            ) from None
        self._port = sockets[0].getsockname()[1]
        loop = asyncio.new_event_loop()
        loop.run_until_complete(self._start(loop, sockets))
        thread = threading.Thread(target=loop.run_forever, name="server", daemon=True)
        thread.start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._writer.stop())
        host = f"[{self._host}]" if ":" in self._host else self._host
        print(f"grader: hand in at {'https' if self._tls else 'http'}://{host}:{self._port}", flush=True)
        self._writer.run()
        asyncio.run_coroutine_threadsafe(self._stop(), loop).result()
        deadline = time.monotonic() + STOP_SECONDS
        while self._dispatcher.under_way() and time.monotonic() < deadline:
            self._writer.run(seconds=0.05)
        self._writer.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        self._store.close()
        self._deadlines.close()
        if self._dispatcher.under_way():
            # Their threads would keep this process alive; the next start grades these hand-ins.
            os._exit(0)
        return 0

    async def _start(self, loop: asyncio.AbstractEventLoop, sockets: list[socket.socket]) -> None:
        prefix = os.environ.get(PREFIX, "/")
        self._service.server = BoundedServer(
            application(self._service, prefix),
            max_connections=self._limits.connections,
            idle_connection_timeout=self._limits.header_seconds,
            body_timeout=self._limits.body_seconds + 5,
            ssl_options=self._tls,
        )
        self._dispatcher.run(loop, self._writer)
        self._looking = PeriodicCallback(
            partial(loop.run_in_executor, None, self._service.watch.look), 1000 * LOOK_SECONDS
        )
        self._looking.start()
        self._service.server.add_sockets(sockets)

    async def _stop(self) -> None:
        self._looking.stop()
        self._service.server.stop()
        self._dispatcher.stop()


def _allow_files(number: int) -> None:
    """Raise the limit of open files, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        number = min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))


def _tls(options: Options) -> ssl.SSLContext | None:
    if options.certfile is None:
        if options.keyfile is not None:
            raise GraderError("--keyfile needs the certificate as well: add --certfile")
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(options.certfile, options.keyfile)
    except (OSError, ssl.SSLError) as error:
        raise GraderError(
            f"the certificate {options.certfile} or its key cannot be used ({error}): correct it"
        ) from None
    return context
