"""Starts and stops the server of `grader mark`.

event loop: requests, leases, waiting pages        one thread: answers, gradebook, record
"""

import asyncio
import getpass
import logging
import os
import signal
import tempfile
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from grader.classroom.course_dir import CourseDir
from grader.classroom.students.names import require_name
from grader.classroom.web.hub import HUB_URL, PREFIX
from grader.commands.mark.marking import Marking
from grader.commands.mark.settings import Marking as MarkingSettings
from grader.commands.mark.web.access import Access, HubMarkers, Links
from grader.commands.mark.web.app import MAX_BODY, application
from grader.commands.mark.web.context import MarkingContext
from grader.commands.shared import LOCAL, MARK_LOCK, host_and_port
from grader.errors import GraderError
from grader.files import locked

ADDRESS = "127.0.0.1:8766"
"""The default address, beside that of `grader serve`."""
log = logging.getLogger("grader.commands.mark")


@dataclass(frozen=True)
class Options:
    """The options of `grader mark`.

    `assignment` is '' for all; `markers` are the people who get a link each, by default the account that runs the
    command; `bind` is HOST:PORT; `with_browser` opens the first link.
    """

    assignment: str = ""
    markers: Sequence[str] = ()
    bind: str = ""
    with_browser: bool = True


def mark(course_dir: CourseDir, options: Options) -> int:
    """Serve the pages for marking until SIGTERM or Ctrl-C; return the exit status.

    Args:
        course_dir: the course folder.
        options: the options of the command.

    Raises:
        GraderError: another `grader mark` uses the folder, the assignment was not graded, or the address is unusable.
    """
    assignments = [options.assignment] if options.assignment else course_dir.assignments()
    if options.assignment:
        # What is wrong is said in the terminal, before a page is opened.
        Marking(course_dir, options.assignment).close()
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(course_dir.root / MARK_LOCK))
        except BlockingIOError:
            raise GraderError(
                f"another 'grader mark' uses {course_dir.root}: open its page, which serves several people, or stop it"
            ) from None
        return asyncio.run(_serve(course_dir, assignments, options))


async def _serve(course_dir: CourseDir, assignments: list[str], options: Options) -> int:
    settings, is_on_hub = MarkingSettings(config=course_dir.config), PREFIX in os.environ
    host, port = host_and_port(options.bind or os.environ.get(HUB_URL, "") or ADDRESS)
    if not is_on_hub and host not in LOCAL:
        raise GraderError(
            f"grader mark listens on this machine only, not at {host}: use a JupyterHub, or "
            f"'ssh -L {port}:localhost:{port}'"
        )
    # Before anything is open that an error would leave open.
    markers = [require_name(marker) for marker in options.markers] or [getpass.getuser()]
    hub = HubMarkers(settings.markers) if is_on_hub else None
    try:
        sockets = bind_sockets(port, host)
    except OSError as error:
        raise GraderError(f"cannot listen at {host}:{port} ({error.strerror}): choose another with --bind") from None
    port = sockets[0].getsockname()[1]
    root, link = os.environ.get(PREFIX, "/"), ""
    access: Access
    if hub is not None:
        logging.basicConfig(format="%(asctime)s %(message)s")
        log.setLevel(logging.INFO)
        access = hub
    else:
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}{root}"
        access = links = Links(address, lambda marker, link: print(f"grader: {marker} marks at {link}", flush=True))
        link, *_ = [links.make(marker) for marker in markers]
    context = MarkingContext(course_dir, assignments, access, settings.lease_seconds)
    server = HTTPServer(application(context, root), max_body_size=MAX_BODY, max_header_size=MAX_BODY)
    server.add_sockets(sockets)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    tasks = [asyncio.create_task(context.watch()), asyncio.create_task(context.render_ahead())]
    with tempfile.TemporaryDirectory() as folder:
        if link and options.with_browser:
            _open(Path(folder) / "mark.html", link)
        await stopped.wait()
    server.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await server.close_all_connections()
    context.close()
    return 0


def _open(page: Path, link: str) -> None:
    """Open a link in the person's browser, by a page that only they can read: others see the arguments of programs."""
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(link)}"><title>Marking</title>')
    webbrowser.open(page.as_uri())
