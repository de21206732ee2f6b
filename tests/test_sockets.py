"""No command opens a socket that another account of the machine can use.

Each runs in a network of its own, and each socket on which it listens is tried as a second user.
"""

import ctypes
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.course_root import remember
from grader.commands.backup.backup import back_up
from grader.commands.check import protocol
from grader.commands.cli import COMMANDS
from grader.commands.serve.accounts import TOKENS
from tests.commands.serve.serving import make_served_course, written
from tests.support import surroundings
from tests.support.paths import REPOSITORY
from tests.support.platform_files import NBGRADER_STUDENTS, Packed, packed
from tests.support.small_class import NAME, hand_in
from tests.support.waiting import HANGS, PAUSE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not surroundings.can_be_plain_user(), reason="this user cannot become another one"),
]

ALLOWED = {
    "refused": "The socket lies in a folder that no other user may enter, so the kernel lets no one else connect.",
    "certificate": "TLS demands a certificate that only the processes of the command have.",
    "status 401": "The service demands a token. Its port is there for students to reach.",
}
"""What a second user may get from a socket, and why that is proof of who asks."""
BAIT = "silence"
"""What a second user gets from the sockets that the doctor sets out for the sandbox: it accepts no connection, reads
nothing and closes them when the sandbox has tried. No other command has such a socket."""
SECOND_USER = 65534
CLONE_NEWNET = 0x40000000
NETWORK = """
import fcntl, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1))
print("up", flush=True)
sys.stdin.read()
"""
"""Switches the loopback interface on, and keeps the network until its standard input ends."""
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
WANTS_CERTIFICATE = {"SSLV3_ALERT_HANDSHAKE_FAILURE", "TLSV13_ALERT_CERTIFICATE_REQUIRED"}


class Listener(NamedTuple):
    """A socket to which others may connect or send.

    `kind` is tcp, tcp6, udp, udp6 or unix. `address` is a host, a path, or the name of an abstract socket, which begins
    with @.
    """

    kind: str
    address: str
    port: int = 0


class Network:
    """A network in which a command runs; all sockets in it are those of the command and its children.

    A unix socket belongs to the network of the process that made it, too.
    """

    def __init__(self) -> None:
        command = ["unshare", "--net", sys.executable, "-c", NETWORK]
        self._keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._keeper.stdout is not None and self._keeper.stdout.readline() == "up\n"
        self._space = os.open(f"/proc/{self._keeper.pid}/ns/net", os.O_RDONLY)

    def close(self) -> None:
        """Give up the network."""
        os.close(self._space)
        self._keeper.communicate()

    def start(self, command: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> subprocess.Popen:
        """Start a command in a folder; its output goes to a log."""
        inside = ["nsenter", f"--net=/proc/{self._keeper.pid}/ns/net", *command]
        with log.open("w") as output:
            return subprocess.Popen(
                inside, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def listeners(self) -> set[Listener]:
        """Return the sockets that exist now."""
        found = set()
        for kind in ("tcp", "tcp6", "udp", "udp6"):
            for local, remote, state in self._rows(kind, (1, 2, 3)):
                # A UDP socket has no state in which it listens. One that has a partner hears that partner only.
                if state == "0A" if kind.startswith("tcp") else remote.strip("0:") == "":
                    host, _, port = local.partition(":")
                    found.add(Listener(kind, _host(host), int(port, 16)))
        for flags, form, inode, *path in self._rows("unix", (3, 4, 6, 7)):
            is_open = int(flags, 16) & 0x10000 or form == "0002"  # it accepts, or takes datagrams
            if is_open and path:
                found.add(Listener("unix", path[0] if path[0].startswith("@") else _real_path(path[0], inode)))
        return found

    def tried(self, listener: Listener) -> str:
        """Return what a second user gets from a socket.

        Returns:
            "refused" by the kernel, "certificate" if TLS demands one, "status N" of HTTP, "silence" if it was connected
            and heard nothing, "gone" if the socket was closed meanwhile, or else "an answer".
        """
        answer, result = os.pipe()
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                assert ctypes.CDLL(None).setns(self._space, CLONE_NEWNET) == 0
                os.setgroups([])
                os.setresgid(SECOND_USER, SECOND_USER, SECOND_USER)
                os.setresuid(SECOND_USER, SECOND_USER, SECOND_USER)
                os.write(result, _tried(listener).encode())
            os._exit(0)
        os.close(result)
        os.waitpid(child, 0)
        with open(answer) as text:
            return text.read()

    def _rows(self, table: str, columns: tuple[int, ...]) -> list[list[str]]:
        lines = Path(f"/proc/{self._keeper.pid}/net/{table}").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        return [[row[column] for column in columns if column < len(row)] for row in rows]


def _host(digits: str) -> str:
    """An address as people write it; the kernel writes words of four bytes, the lowest byte first."""
    words = [bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words))


def _real_path(path: str, inode: str) -> str:
    """The path of a socket for other processes; its owner may have named it relative to itself."""
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(descriptor) == f"socket:[{inode}]":
                owner = descriptor.parents[1]
                path = re.sub("^/proc/self", str(owner), path)
                return os.path.realpath(owner / "cwd" / path)
    return path


def _connected(listener: Listener) -> socket.socket:
    if listener.kind != "unix":
        return socket.create_connection((listener.address, listener.port), timeout=HANGS)
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(HANGS)
    line.connect("\0" + listener.address[1:] if listener.address.startswith("@") else listener.address)
    return line


def _tried(listener: Listener) -> str:
    if listener.kind.startswith("udp"):
        return "an answer"  # no kind of proof is known
    answer = b""
    try:
        with _connected(listener) as line, suppress(ConnectionError):
            with suppress(ConnectionError):  # what was sent before it was closed can still be read
                line.sendall(REQUEST)
            answer = line.recv(4096)
    except PermissionError:
        return "refused"
    except OSError:
        return "gone"
    if answer.startswith(b"HTTP/"):
        return f"status {answer.split()[1].decode()}"
    if answer and not answer.startswith(b"\x15\x03"):  # an alert of TLS
        return "an answer"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # In this version the server asks for the certificate before it says that the connection is made.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        with _connected(listener) as line:
            context.wrap_socket(line).close()
    except ssl.SSLError as error:
        return "certificate" if error.reason in WANTS_CERTIFICATE else "an answer"
    except (ConnectionRefusedError, FileNotFoundError):
        return "silence"
    except OSError:
        return "an answer"
    return "an answer"


class Case(NamedTuple):
    """A command, what its sockets demand, and whether it runs until it is stopped."""

    command: str
    demands: set[str]
    is_endless: bool = False


SERVER = """
import os, selectors, socket, sys
v4, v6 = socket.create_server(("127.0.0.1", 0)), socket.create_server(("::1", 0), family=socket.AF_INET6)
path, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
os.umask(0)
path.bind("open.socket")
abstract.bind(chr(0) + "open")
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
ready = selectors.DefaultSelector()
for listener in (v4, v6, path, abstract):
    listener.listen()
    ready.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        key.fileobj.accept()[0].send(b"Welcome!")
"""
"""Opens a socket of each kind, and welcomes everyone."""

FORKING = {"refused"}
"""The fork server of multiprocessing has a socket."""
CASES = [
    Case("release", FORKING),
    Case(f"grade {NAME}", FORKING),
    Case(f"grade {NAME} --changed --yes --force", FORKING),
    Case(f"grade {NAME} --force --scheduler local:1", FORKING | {"certificate"}),
    Case("worker-setup local:1", FORKING | {"certificate"}),
    Case(f"grade {NAME} --explain ann", set()),
    Case(f"check submitted/ann/{NAME}/small.ipynb", FORKING),
    Case(f"check submitted/ann/{NAME}/small.ipynb --no-daemon", FORKING),
    Case("serve --bind 127.0.0.1:0", FORKING | {"status 401"}, is_endless=True),
    Case("mark --no-browser --bind 127.0.0.1:0", {"status 401"}, is_endless=True),
    Case("tokens students.csv", set()),
    Case("requests", set()),
    Case(f"extend ann {NAME} 2099-01-01", set()),
    Case("backup ../another.zip", set()),
    Case("restore ../backup.zip ../restored", set()),
    Case("roster students.csv", set()),
    Case(f"import archive.zip --assignment {NAME} --for canvas", set()),
    Case(f"export {NAME} --for csv", set()),
    Case(f"report {NAME}", set()),
    Case(f"prove {NAME} --tenth 1", FORKING),
    Case("doctor", FORKING),
    Case(f"feedback {NAME} --unmarked", set()),
    Case(f"rename {NAME} 02-other", set()),  # last, because no other command finds the old name
]


@pytest.fixture(scope="module")
def course() -> Iterator[Path]:
    """A course in a folder that every user may enter, so that a closed door is the command's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        course = make_served_course(folder / "course")
        hand_in(course, "ann", written(course))
        (course / "students.csv").write_text(NBGRADER_STUDENTS)
        (course / "archive.zip").write_bytes(packed([Packed("ann_101_7001_small.ipynb", written(course))]))
        (course / TOKENS).unlink()  # they have been handed out
        remember(course)
        with CourseDir(course).gradebook() as gradebook:
            gradebook.add_student("ann")
            gradebook.add_assignment(NAME, duedate="2098-01-01 12:00 UTC")
        back_up(CourseDir(course), folder / "backup.zip", print)
        for part in ("home", "tmp", "runtime"):
            (folder / part).mkdir()
        yield course
        shutil.rmtree(course)


def test_every_command_is_a_case() -> None:
    """A new command must say what its sockets demand."""
    assert {case.command.split()[0] for case in CASES} == COMMANDS.keys()


def test_a_socket_of_any_kind_that_serves_another_user_is_found(course: Path) -> None:
    """Also one without a file, and one whose path is relative to the folder of its owner."""
    network = Network()
    try:
        process = network.start([sys.executable, "-c", SERVER, str(course)], course, course.parent / "log", os.environ)
        until(lambda: len(network.listeners()) == 5, "five sockets")
        found = network.listeners()
        answers = {listener: network.tried(listener) for listener in found}
        process.kill()
        process.wait()
    finally:
        network.close()
    assert {listener.address for listener in found} == {"127.0.0.1", "::1", "@open", str(course / "open.socket")}
    assert set(answers.values()) == {"an answer"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
def test_no_socket_of_a_command_serves_another_user(case: Case, course: Path) -> None:
    """Each one that the command or a child of it opens demands proof of who asks, from its start to its end."""
    places = {"HOME": "home", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "runtime"}
    environment = os.environ | {name: str(course.parent / part) for name, part in places.items()}
    environment |= {"PYTHONPATH": str(REPOSITORY), protocol.IDLE_SECONDS: "1"}
    log, network = course.parent / "log", Network()
    tried: dict[Listener, str] = {}
    try:
        command = [sys.executable, "-m", "grader", *case.command.split()]
        process = network.start(command, course, log, environment)
        end, is_stopped = time.monotonic() + HANGS, False
        # A daemon outlives its command, and ends by itself.
        while (found := network.listeners()) or process.poll() is None:
            for listener in found - tried.keys():
                tried[listener] = network.tried(listener)
            if case.is_endless and not is_stopped and case.demands <= set(tried.values()):
                process.send_signal(signal.SIGTERM)
                is_stopped = True
            assert time.monotonic() < end, log.read_text()
            time.sleep(PAUSE)
        assert process.wait() == 0, log.read_text()
    finally:
        network.close()
    answers = set(tried.values()) - {"gone"} - ({BAIT} if case.command == "doctor" else set())
    assert answers == case.demands, (tried, log.read_text())
    assert answers <= ALLOWED.keys()
