"""Holds the command line options and start-up steps that several commands share."""

import argparse
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from grader.classroom.config import course_needs_torch, helper_packages, load_config
from grader.engine.supervisor import forkserver
from grader.errors import GraderError
from grader.text import DISTRIBUTION, HOW_TO_CONTINUE, INTERRUPTED, one_line

if TYPE_CHECKING:
    from rich.console import Console

LOCAL = ("127.0.0.1", "::1", "localhost")
"""Names of this machine, which no other one reaches."""


WIDE = 500
"""Characters in a line of a file or a pipe, of which a table takes what it needs."""
HAND_IN_FILES = "hand_in_files"
"""The folder in the course folder, or the archive, with a settings file of `hand_in()` for each student."""
REPORTS = "reports"
"""The folder in the course folder with a folder for each assignment that `grader report` has seen."""
SERVE_LOCK, MARK_LOCK = ".grader-serve.lock", ".grader-mark.lock"
"""Files in the course folder that `grader serve` and `grader mark` lock while they run."""


class Command(NamedTuple):
    """A command with a line of help, a function that adds its options to a parser, and a function that runs it.

    `run` takes the parsed options and returns the exit status. It imports slow modules itself: so --help stays quick,
    and the fork server loads its modules at the same time.
    """

    name: str
    help: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add_jobs(parser: argparse.ArgumentParser, plural: str) -> None:
    """Add the option --jobs, the number of `plural`, such as students, that are graded at a time."""
    help = f"{plural} graded at a time (default, maximum: one per core)"
    parser.add_argument("--jobs", type=count, default=0, metavar="N", help=help)


def add_no_sandbox(parser: argparse.ArgumentParser, help: str) -> None:
    """Add the option --no-sandbox, with this help."""
    parser.add_argument("--no-sandbox", action="store_true", help=help)


def add_anyway(parser: argparse.ArgumentParser) -> None:
    """Add the option --anyway."""
    parser.add_argument("--anyway", action="store_true", help="go on although our own solution fails one of our tests")


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Add the option --scheduler."""
    parser.add_argument(
        "--scheduler", default="", metavar="ADDRESS",
        help="grade on a cluster of dask: tcp://HOST:PORT of its scheduler, or local:N for N workers on this machine"
    )  # fmt: skip


def count(number: str) -> int:
    """Parse an argument that must be an integer of 0 or more."""
    if int(number) < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more; got {number}")
    return int(number)


@contextmanager
def start_up() -> Iterator[None]:
    """End at once at Ctrl-C: there is nothing to clean up yet, and some modules swallow a KeyboardInterrupt."""

    def end(*_: object) -> None:
        print(HOW_TO_CONTINUE, file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)

    previous = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def prepare(root: Path) -> None:
    """Start the fork server, which loads torch and the helper packages while this process loads nbgrader.

    Args:
        root: the course folder.
    """
    config = load_config(root)
    forkserver.prepare(helper_packages(config), needs_torch=course_needs_torch(root, config))


def with_current_names(settings: Mapping[str, Any], current: Mapping[str, str]) -> dict[str, Any]:
    """Return settings of a course under their current names; one given under both names has the current one's value.

    Args:
        settings: values by name.
        current: the current names of settings that had another one in an earlier version.
    """
    renamed = {current[name]: value for name, value in settings.items() if name in current}
    return renamed | {name: value for name, value in settings.items() if name not in current}


def host_and_port(text: str) -> tuple[str, int]:
    """Return the two parts of the value of --bind, or of a URL; raise GraderError for anything else."""
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None:
        raise GraderError(f"--bind wants HOST:PORT, such as 127.0.0.1:8765; got {text!r}")
    return host, port


def console(**options: Any) -> "Console":
    """Return rich's console. A file or a pipe has no width, so no name in a table is broken there.

    Args:
        options: options of the console.
    """
    from rich.console import Console

    made = Console(**options)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDE
    return made


def require_dask() -> None:
    """Raise GraderError if dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise GraderError(f"a scheduler is reached with dask.distributed: pip install '{DISTRIBUTION}[cluster]'")


def note(line: str) -> None:
    """Print a line on standard error, beside the output of a command."""
    print(f"grader: {one_line(line)}", file=sys.stderr)


def show(error: GraderError) -> None:
    """Print an error and its details on standard error."""
    note(str(error))
    print("".join(f"{one_line(line)}\n" for line in error.details), end="", file=sys.stderr)
