"""Examines which protections hold on this machine: a confined process attempts what it must not be able to do.

attempts.py --grade--> what got through --------+
a look at a confined process from outside ------+--> Examination

The kernel's version says only what it should do, and is not asked.
"""

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import py_landlock
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report
from grader.engine.sandbox.isolation import confinement
from grader.engine.sandbox.isolation.confinement import readable_paths
from grader.engine.supervisor.cgroups import delegated_group
from grader.engine.supervisor.session import Sandboxes
from grader.engine.torch_use import is_installed
from grader.errors import SandboxUnavailable

ATTEMPTS = Path(__file__).with_name("attempts.py")
SECRET = "The text of a file that student code must not read."


class Protection(msgspec.Struct, frozen=True):
    """One promise, with the reason if it does not hold on this machine, and what to do then.

    Grading needs the `required` protections. The others are a second wall, or close what the first cannot. A hole in an
    `urgent` one should be closed before anything is graded.
    """

    name: str
    promise: str
    required: bool
    holds: bool
    why: str = ""
    to_do: str = ""
    urgent: bool = False


class Torch(msgspec.Struct, frozen=True):
    """The library torch: its version, '' if it is not installed, and whether this course needs it, if this is one."""

    version: str
    is_needed: bool | None = None


class Examination(msgspec.Struct, frozen=True):
    """The result of an examination: `grading` is true if grading will start, and `error` is the reason if not."""

    grading: bool
    error: str
    protections: list[Protection]
    torch: Torch = Torch("")


NAMESPACES = {"net": "network", "ipc": "shared memory", "uts": "host name", "pid": "processes", "mnt": "files"}
"""The namespaces that a confined process can have for itself, by the kernel's names."""
ALLOW_NAMESPACES = (
    "allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0)"
)
FIRST_WALL = {
    "reading": "student code reads no file but libraries and its own",
    "writing": "student code changes no file but its own",
    "network": "student code has no network, and no line to another program",
    "programs": "student code starts no process and no program",
    "processes": "student code reaches no other process",
    "channels": "student code can ask nothing about other submissions or the machine",
    "limits": "memory, files and open files have limits that hold",
}


def examine(needs_torch: bool | None = None) -> Examination:
    """Confine a process, have it make all attempts, and look at it from outside.

    Args:
        needs_torch: whether the course in this folder needs torch; None if this is no course folder.
    """
    torch = Torch(version("torch") if is_installed() else "", needs_torch)
    try:
        confinement.check()
        tried, report = attempts()
        report.require_confined()
    except SandboxUnavailable as error:
        return Examination(False, str(error), [], torch)
    first_wall = [_tried(name, promise, tried.get(name)) for name, promise in FIRST_WALL.items()]
    holds = all(protection.holds for protection in first_wall)
    why_not = "" if holds else "student code got through the confinement: do not grade submissions on this machine"
    return Examination(holds, why_not, [*first_wall, *_second_wall(tried.get("names"))], torch)


def attempts(*, sandbox: bool = True) -> tuple[dict[str, list[str]], Report]:
    """Have student code make all attempts.

    Args:
        sandbox: whether the kernel confines it; if not, nearly all attempts get through.

    Returns:
        The attempts that got through, by the name of the protection, and the report, as for any submission.
    """
    limits = Limits(memory_mb=512, file_mb=1)
    with _prepared(limits) as facts:
        answer = new_code_cell(f"FACTS = {facts!r}\n{ATTEMPTS.read_text()}", metadata=_marks("attempts", is_test=False))
        check = new_code_cell("assert attempts", metadata=_marks("attempts-check", is_test=True))
        notebook = new_notebook(cells=[answer, check])
        report = grade(notebook, notebook, limits, sandbox=sandbox)
    texts = [output.get("text", "") for output in report.outputs.get(0, ())]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else {}), report


@contextmanager
def _prepared(limits: Limits) -> Iterator[dict[str, Any]]:
    """Prepare a secret file and sockets that accept connections, which an unconfined attempt can reach."""
    abstract = f"\0grader-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="doctor-"))
        secret = Path(folder, "secret.txt")
        secret.write_text(SECRET)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        line = stack.enter_context(socket.socket(socket.AF_UNIX))
        line.bind(abstract)
        line.listen()
        yield {
            "secret": str(secret),
            "port": port.getsockname()[1],
            "abstract": abstract,
            "pid": os.getpid(),
            "memory_mb": limits.memory_mb,
            "file_mb": limits.file_mb,
        }


def _marks(name: str, *, is_test: bool) -> dict[str, Any]:
    marks = {"grade_id": name, "grade": is_test, "solution": not is_test, "locked": is_test, "schema_version": 3}
    return {"nbgrader": marks | ({"points": 1} if is_test else {})}


def _tried(name: str, promise: str, through: list[str] | None) -> Protection:
    if through is None:
        why, to_do = "the attempts did not finish", "run the doctor again"
    else:
        why = f"got through: {' '.join(through)}" if through else ""
        to_do = "grade on another machine, and report this as SECURITY.md says"
    return _protection(name, promise, why, to_do, required=True)


def _second_wall(seen: list[str] | None) -> list[Protection]:
    """Return the second wall of a confined process, as seen from outside; `seen` are attempts from inside."""
    with Sandboxes(Limits(), sandbox=True, processor=min(os.sched_getaffinity(0))) as sandboxes:
        sandboxed = Sandboxed(sandboxes.confined_pid())
        shared = sandboxed.shared_namespaces()
        recording = sandboxed.mounts_that_record_reading()
    unscoped = landlock_lets_through()
    return [
        _protection(
            "capabilities", "student code has no privilege of root",
            f"it has the capabilities {sandboxed.capabilities:x}" if sandboxed.capabilities else "",
            "grade as an ordinary user",
        ),
        _protection(
            "user", "student code does not run as root",
            "the Python installation is closed to every other user" if sandboxed.user == 0 else "",
            "install Python where all users can read it, or grade as an ordinary user",
            urgent=True,
        ),
        _protection(
            "namespaces", "student code has its own network, shared memory, host name, processes and root folder",
            f"it shares: {', '.join(shared)}" if shared else "",
            ALLOW_NAMESPACES,
        ),
        _protection(
            "names", "student code sees no file and no process but those that it may read",
            "" if seen == [] else f"submissions that cooperate can talk: {' '.join(seen or ['not tried'])}",
            ALLOW_NAMESPACES,
        ),
        _protection(
            "scopes", "Landlock stops signals and abstract sockets by itself",
            f"the kernel lets through: {', '.join(unscoped)}" if unscoped else "",
            "Linux 6.12 or later adds this; until then, the system calls are refused",
        ),
        _protection(
            "cgroup", "the kernel counts memory and threads of each submission",
            "" if delegated_group() else "no cgroup (version 2) with memory or pids is delegated to you",
            "start with: systemd-run --user --scope --property Delegate=yes grader grade ...",
        ),
        _protection(
            "reading times", "reading a library leaves no trace that another submission can see",
            f"the time of the last reading of a file is recorded in {' and '.join(recording)}" if recording else "",
            f"mount the file system with the option noatime, or {ALLOW_NAMESPACES}",
        ),
    ]  # fmt: skip


def _protection(
    name: str, promise: str, why: str, to_do: str, *, required: bool = False, urgent: bool = False
) -> Protection:
    """Return a protection, which holds if `why`, the reason against it, is empty."""
    return Protection(name, promise, required, not why, why, to_do if why else "", urgent)


class Sandboxed:
    """A confined process, seen from outside.

    Args:
        pid: its number.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        lines = (self._folder / "status").read_text().splitlines()
        self._status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def user(self) -> int:
        """The number of the user for whom the process acts."""
        return int(self._status["Uid"].split()[1])

    @property
    def capabilities(self) -> int:
        """The capabilities that the process has or could get, as a set of bits."""
        return int(self._status["CapPrm"], 16) | int(self._status["CapEff"], 16) | int(self._status["CapBnd"], 16)

    def shared_namespaces(self) -> list[str]:
        """Return the namespaces that the process shares with this one."""
        return [
            title
            for name, title in NAMESPACES.items()
            if os.readlink(self._folder / "ns" / name) == os.readlink(f"/proc/self/ns/{name}")
        ]

    def mounts_that_record_reading(self) -> list[str]:
        """Return the mounted file systems with libraries that record the time of the last reading of a file.

        A submission could signal to another one by reading a library, because both see its times. A file system that is
        mounted read-only records nothing.
        """
        mounts = [line.split() for line in (self._folder / "mountinfo").read_text().splitlines()]
        quiet = {mount[4] for mount in mounts if {"ro", "noatime"}.intersection(mount[5].split(","))}
        places = {mount[4] for mount in mounts}
        libraries = {Path(path).resolve() for path in readable_paths() if os.path.isdir(path)}
        holding = {next(str(part) for part in (path, *path.parents) if str(part) in places) for path in libraries}
        return sorted(holding - quiet)


def landlock_lets_through() -> list[str]:
    """Return which of signals and abstract sockets Landlock alone lets through, in a child without any rule."""
    name = f"\0grader-doctor-{os.getpid()}"
    found, answer = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        child = os.fork()
        if child == 0:
            try:
                os.write(answer, " ".join(_let_through(os.getppid(), name)).encode())
            finally:
                os._exit(0)
        os.close(answer)
        os.waitpid(child, 0)
    with open(found) as text:
        return text.read().split()


def _let_through(parent: int, name: str) -> list[str]:
    through = []
    py_landlock.Landlock(strict=False).apply()
    with suppress(OSError):
        os.kill(parent, 0)
        through.append("signals")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(name)
        through.append("sockets")
    return through
