"""Defines how client and daemon of a check connect: a private folder, the name of a socket, and a request.

Only the user may enter the folder. It is opened once, examined, and used through its descriptor, so no other folder can
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
"""Environment variable with the seconds that an idle daemon stays; 0: no daemon."""
DEFAULT_IDLE_SECONDS = 600.0
KEPT_SETTINGS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "HOME")
"""Environment variables that identify a daemon, besides those of Python: its processes keep them."""
MAX_REQUEST = 8 * 2**20
"""Bytes of a request, most of which is the environment."""
STREAMS = (0, 1, 2)

STARTED, INTERRUPT = b"s", b"i"
_length = struct.Struct("!I")


@dataclass(frozen=True)
class Request:
    """The client's command line, working folder and environment, and the encodings of its streams."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    encodings: list[tuple[str, str]]


def idle_seconds() -> float:
    """Return the time that an idle daemon stays, in seconds; 0: no daemon."""
    try:
        return max(0.0, float(os.environ.get(IDLE_SECONDS, DEFAULT_IDLE_SECONDS)))
    except ValueError:
        return DEFAULT_IDLE_SECONDS


def open_folder() -> int:
    """Return a descriptor of the folder of sockets; make the folder if it is missing.

    Raises:
        OSError: it cannot be made, or other users may enter it.
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

    Each interpreter, location of packages and set of kept settings has its own daemon.

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
    """Return the folders in which this process finds modules, as absolute paths."""
    # Some entries are placeholders of import hooks.
    return [os.path.abspath(path) if os.path.exists(path or ".") else path for path in sys.path]


def is_own(connection: socket.socket) -> bool:
    """Return True if the process at the other end belongs to the same user."""
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
        ValueError, TypeError: the bytes are not a request.
    """
    head, streams, *_ = socket.recv_fds(connection, _length.size, len(STREAMS))
    (size,) = _length.unpack(head.ljust(_length.size, b"\0"))
    if len(head) != _length.size or size > MAX_REQUEST or len(streams) != len(STREAMS):
        raise ValueError("a request must begin with its length and bring three streams")
    content = bytearray()
    while len(content) < size:
        part = connection.recv(size - len(content))
        if not part:
            raise EOFError("the client is gone")
        content += part
    return Request(**json.loads(content)), streams
