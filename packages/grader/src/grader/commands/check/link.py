"""Defines how client and daemon of a check meet and talk: a private folder, the name of a socket, and a request.

Only its user may enter the folder. It is opened once, examined, and used through its descriptor: another folder cannot
take its place meanwhile, and its path may be long.
"""

import hashlib
import json
import os
import socket
import stat
import struct
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

PROTOCOL = 1
IDLE_SECONDS = "GRADER_DAEMON_SECONDS"
"""Environment variable with the seconds that an idle daemon stays; with 0, there is none."""
DEFAULT_IDLE_SECONDS = 600.0
KEPT_SETTINGS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "HOME")
"""Environment variables that the daemon's own processes keep for good, besides those of Python."""
MAX_REQUEST = 8 * 2**20
"""Bytes of a request, most of which is the environment."""
STREAMS = (0, 1, 2)

STARTED, INTERRUPT = b"s", b"i"
_length = struct.Struct("!I")


@dataclass(frozen=True)
class Request:
    """The client's process: its command line, working folder, environment, and how its streams are encoded."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    encodings: list[tuple[str, str]]


def idle_seconds() -> float:
    """Return how long an idle daemon stays, in seconds; 0 if there must be none."""
    try:
        return max(0.0, float(os.environ.get(IDLE_SECONDS, DEFAULT_IDLE_SECONDS)))
    except ValueError:
        return DEFAULT_IDLE_SECONDS


def open_folder() -> int:
    """Return a descriptor of the folder of sockets, which is made if there is none.

    Raises:
        OSError: it cannot be made, or others than this user may enter it.
    """
    runtime, cache = os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("XDG_CACHE_HOME")
    folder = Path(runtime or cache or os.path.expanduser("~/.cache"), f"grader-check-{os.geteuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{folder} must belong to you, and no other user may enter it")
    return descriptor


def paths(folder: int, course: Path) -> tuple[str, str]:
    """Return the paths of the socket and of the lock for a course, as this process sees them.

    Another interpreter, another place of the packages, or another setting that lasts has a daemon of its own.

    Args:
        folder: the descriptor of the folder.
        course: the course folder.
    """
    settings = {
        name: value for name, value in sorted(os.environ.items()) if name in KEPT_SETTINGS or name.startswith("PYTHON")
    }
    identity = [PROTOCOL, sys.version, sys.executable, sys.prefix, list(sys.flags), search_path(), settings]
    name = hashlib.sha256(json.dumps([*identity, __file__, str(course)]).encode()).hexdigest()[:32]
    return f"/proc/self/fd/{folder}/{name}.socket", f"/proc/self/fd/{folder}/{name}.lock"


def search_path() -> list[str]:
    """Return where this process finds modules, wherever it works."""
    # Some entries are no paths, but marks of the finders of packages.
    return [os.path.abspath(path) if os.path.exists(path or ".") else path for path in sys.path]


def is_own(connection: socket.socket) -> bool:
    """Return whether the process at the other end belongs to the same user."""
    form = struct.Struct("3i")  # process, user, group
    _, user, _ = form.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size))
    return bool(user == os.geteuid())


def send(connection: socket.socket, request: Request) -> None:
    """Send a request together with this process's standard streams; raise OSError if the daemon is gone."""
    content = json.dumps(asdict(request)).encode()
    socket.send_fds(connection, [_length.pack(len(content))], STREAMS)
    connection.sendall(content)


def receive(connection: socket.socket) -> tuple[Request, list[int]]:
    """Return a request and the descriptors of the client's streams.

    Raises:
        OSError: the connection ends or is slow.
        ValueError, TypeError: it is no request.
    """
    head, streams, *_ = socket.recv_fds(connection, _length.size, len(STREAMS))
    (size,) = _length.unpack(head.ljust(_length.size, b"\0"))
    if len(head) != _length.size or size > MAX_REQUEST or len(streams) != len(STREAMS):
        raise ValueError("a request begins with its length and brings three streams")
    content = bytearray()
    while len(content) < size:
        part = connection.recv(size - len(content))
        if not part:
            raise EOFError("the client is gone")
        content += part
    return Request(**json.loads(content)), streams
