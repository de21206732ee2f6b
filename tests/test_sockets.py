"""No command opens a socket that another account of the machine can use."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
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
from tests.support.listeners import Listener, Network
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
