"""`grader check` with a real daemon: the same results as without it, sooner, and for its own user only."""

import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.classroom.course_root import remember
from grader.commands.check import client, protocol
from grader.commands.cli import main
from tests.commands.check.terminal import Terminal, descendants, held
from tests.support.paths import REPOSITORY
from tests.support.small_class import make_course
from tests.support.waiting import HANGS, until

pytestmark = pytest.mark.slow

ENDLESS = "def one(x=1):\n    while True:\n        pass"
REACHING = """
import os, socket
def one(x=1):
    try:
        os.chdir({folder!r})
        socket.socket(socket.AF_UNIX).connect(next(name for name in os.listdir() if name.endswith("socket")))
    except OSError:
        return x
    return 99
"""
"""Right, but for an answer that gets through to the daemon."""


def made(folder: Path, seconds: str) -> Terminal:
    """A terminal in a known course, in which a daemon is wanted for some seconds."""
    wanted = {protocol.IDLE_SECONDS: seconds, "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": str(REPOSITORY)}
    terminal = Terminal(make_course(folder / "course"), os.environ | wanted)
    remember(terminal.course)
    return terminal


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A terminal in which a check has just started a daemon."""
    started = made(tmp_path_factory.mktemp("daemon"), "120")
    assert started.run(started.write("right"))[0] == 0
    yield started
    if started.sockets:
        os.kill(started.daemon, signal.SIGTERM)


def test_a_check_by_the_daemon_is_the_same(terminal: Terminal) -> None:
    """To the character, colours and breaks of lines included, in a terminal of any width."""
    notebook = terminal.write("wrong", two="def two():\n    return 1 / 0")
    screens = []
    for option in ([], ["--no-daemon"]):
        typed = terminal.type(notebook, *option)
        screens.append(typed.read())
        typed.close()
        assert typed.exitstatus == 1
    assert screens[0] == screens[1] and "\x1b[31m" in screens[0] and "ZeroDivisionError" in screens[0]


def test_other_outcomes_are_the_same_too(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error, a usage error and a page of help: streams and exit status."""
    monkeypatch.chdir(terminal.course)
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in (["none.ipynb"], ["source"], [], ["--help"], ["x", "--watch", "--json"]):
        try:
            status = main(["check", *arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        assert terminal.run(*arguments, COLUMNS="80") == (status, *capsys.readouterr())


def test_a_check_has_the_environment_and_the_folder_of_its_client(terminal: Terminal) -> None:
    """The configuration of the user who asks counts, and a path is that of the client's folder."""
    notebook = terminal.write("elsewhere")
    settings = terminal.course / "settings"
    settings.mkdir()
    (settings / "jupyter_config.json").write_text('{"Limits": {"no_such_limit": 1}}')
    assert "no c.Limits.no_such_limit" in terminal.run(notebook, JUPYTER_CONFIG_PATH=str(settings))[2]
    here = Terminal(terminal.course / "elsewhere", terminal.environment)
    status, out, err = here.run("small.ipynb", "--json")
    assert (status, err) == (0, "") and json.loads(out)["points"] == 8
    assert here.run(notebook)[0] == 1


def test_checks_run_side_by_side(terminal: Terminal) -> None:
    """A check that hangs in one terminal keeps none waiting in another; the daemon is the same for all."""
    before = terminal.daemon
    hanging = terminal.start(terminal.write("hanging", one=ENDLESS))
    assert [terminal.run("right/small.ipynb")[0] for _ in range(2)] == [0, 0]
    assert hanging.poll() is None and terminal.daemon == before
    hanging.kill()
    hanging.communicate()


def test_ctrl_c_ends_the_check_and_not_the_daemon(terminal: Terminal) -> None:
    """With one line and status 130, at once; all processes of the check are gone soon, also if its client is killed."""
    before, notebook = terminal.daemon, terminal.write("hanging", one=ENDLESS)
    for signal_number in (signal.SIGINT, signal.SIGKILL):
        idle = descendants(before)
        process = terminal.start(notebook)
        until(lambda idle=idle: len(descendants(before) - idle) >= 3)  # the check, its runner and its sandbox
        process.send_signal(signal_number)
        _, err = process.communicate(timeout=HANGS)
        if signal_number == signal.SIGINT:
            assert process.returncode == 130 and err.startswith("grader: interrupted;") and err.count("\n") == 1
        until(lambda idle=idle: descendants(before) <= idle)
    assert terminal.daemon == before and terminal.run("right/small.ipynb")[0] == 0


def test_student_code_does_not_reach_the_socket(terminal: Terminal) -> None:
    """Although it knows the place; without a sandbox, the same code gets through."""
    folder = str(terminal.sockets[0].parent)
    notebook = terminal.write("reaching", one=REACHING.format(folder=folder))
    assert terminal.run(notebook)[0] == 0
    status, out, _ = terminal.run(notebook, "--no-sandbox")
    assert status == 1 and "one() is 1" in out


def test_a_connection_that_brings_no_request_stops_nobody(terminal: Terminal) -> None:
    """Silence, an end, a length without content, rubbish, and a request without streams."""
    before = terminal.daemon
    rubbish = [
        b"",
        b"\0\0",
        struct.pack("!I", 2**32 - 1),
        struct.pack("!I", 5) + b"hello",
        struct.pack("!I", 2) + b"{}",
    ]
    with terminal.connected():
        for content in rubbish:
            with terminal.connected() as connection:
                connection.sendall(content)
        assert terminal.run("right/small.ipynb")[0] == 0
    assert terminal.daemon == before


def test_the_daemon_holds_nothing_of_the_terminal_that_started_it(terminal: Terminal) -> None:
    """No folder, no stream, no session; its own folder and socket are closed to others."""
    daemon = terminal.daemon
    (path,) = terminal.sockets
    kinds = ("/dev/null", str(path.parent), "socket:", "pipe:")
    # Asked for its number, the daemon looks for changed modules, and has their folders open for a moment.
    until(lambda: all(file.startswith(kinds) for file in held(daemon)))
    assert held(daemon).count("/dev/null") == 3
    assert os.readlink(f"/proc/{daemon}/cwd") == "/" and os.getsid(daemon) == daemon
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_watched_notebook_is_checked_at_every_save(terminal: Terminal) -> None:
    """It shows what a save has changed, whether the file is replaced or written into, and ends with Ctrl-C."""
    notebook = terminal.write("watched", one="def one(x=1):\n    return 2")
    watching = terminal.type(notebook, "--watch")
    watching.expect(r"one +0 / 3 .*not right yet.*two +5 / 5 .*right.*5 of 8 points.*next: one in small.ipynb")
    right = (terminal.course / terminal.write("watched-right")).read_bytes()
    (terminal.course / "new").write_bytes(right)
    (terminal.course / "new").replace(terminal.course / notebook)
    watching.expect(r"saved at.*one +3 / 3 .*right.*\(\+3\).*8 of 8 points from tests \(\+3\).*next: hand in")
    assert "two" not in watching.match.group()
    (terminal.course / notebook).write_bytes(b"{")
    watching.expect("is not JSON.*save it once")
    (terminal.course / notebook).write_bytes(right)
    watching.expect("nothing has changed.*8 of 8 points from tests\x1b")
    watching.sendcontrol("c")
    assert watching.read().replace("^C", "").strip("\x1b[0m\r\n").count("grader") == 0
    watching.close()
    assert watching.exitstatus == 0


def test_a_save_of_a_helper_module_is_a_save_of_the_watched_notebook(terminal: Terminal) -> None:
    """As long as the notebook uses it; the line above says which file was saved."""
    notebook = terminal.write("helped", one="import own_module\n\ndef one(x=1):\n    return own_module.value * x")
    module = (terminal.course / notebook).with_name("own_module.py")
    module.write_text("value = 2\n")
    watching = terminal.type(notebook, "--watch")
    watching.expect(r"small.ipynb, as saved at.*one +0 / 3 .*not right yet")
    module.write_text("value = 1  # and no more\n")
    watching.expect(r"own_module.py, as saved at.*one +3 / 3 .*right.*\(\+3\)")
    watching.sendcontrol("c")
    watching.close()


def test_a_daemon_gives_way_to_another_or_ends(terminal: Terminal) -> None:
    """Killed, or loaded before a file was changed, also when two ask at once; or idle, with all its processes."""
    error = (1, "", "grader: none.ipynb does not exist: name one notebook\n")
    known = {terminal.daemon}
    os.kill(terminal.daemon, signal.SIGKILL)  # its socket is still there
    asking = [terminal.start("none.ipynb") for _ in range(2)]
    assert [(process.wait(HANGS), *process.communicate()) for process in asking] == [error] * 2
    known.add(terminal.daemon)
    assert terminal.run("none.ipynb") == error and terminal.daemon in known and len(known) == 2
    with (terminal.course / "nbgrader_config.py").open("a") as config:
        config.write("# another configuration\n")
    assert terminal.run("none.ipynb", **{protocol.IDLE_SECONDS: "1"}) == error and terminal.daemon not in known
    processes = {terminal.daemon} | descendants(terminal.daemon)
    assert len(processes) >= 2
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    assert terminal.sockets == []


@pytest.mark.parametrize("why", ["open folder", "file", "--no-daemon", "no seconds", "no course", "a stranger's"])
def test_a_check_does_without_a_daemon_where_none_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Others may enter the folder, it is no folder, a person wants none, or the course is none or not known."""
    monkeypatch.setenv(protocol.IDLE_SECONDS, "0" if why == "no seconds" else "30")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    course = tmp_path if why == "no course" else make_course(tmp_path / "course")
    if why != "a stranger's":
        remember(course)
    monkeypatch.chdir(course)
    monkeypatch.setattr(sys, "stdin", sys.__stdin__)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a daemon was started"))
    place = tmp_path / f"grader-check-{os.geteuid()}"
    if why == "open folder":
        place.mkdir()
        place.chmod(0o750)
    elif why == "file":
        place.touch()
    assert client.run(["check", "none.ipynb", *(["--no-daemon"] if why == "--no-daemon" else [])]) is None
    if why == "open folder":
        place.chmod(0o700)
        with pytest.raises(pytest.fail.Exception, match="a daemon was started"):
            client.run(["check", "none.ipynb"])


def test_a_daemon_that_cannot_start_stops_no_check(tmp_path: Path) -> None:
    """The check says itself what is wrong, in one line."""
    terminal = made(tmp_path, "30")
    (terminal.course / "nbgrader_config.py").write_text("1 / 0")
    status, _, err = terminal.run("none.ipynb")
    assert status == 1 and "division by zero" in err and err.count("\n") == 1 and terminal.sockets == []


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # a daemon outlives its client
@pytest.mark.parametrize(("said", "ends"), [(b"", False), (b"", True), (protocol.STARTED, True)])
def test_a_daemon_that_hangs_or_is_killed_hangs_no_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes, ends: bool
) -> None:
    """Before it begins with a request, or while it checks: the client's process then does the work itself."""
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(client, "START_SECONDS", 0.5)
    monkeypatch.setattr(client, "MAIN", "import time; time.sleep(1)")  # none takes its place
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = protocol.open_folder()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(protocol.paths(folder, tmp_path)[0])
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            listener.close()
            with connection:
                protocol.receive(connection)
                connection.sendall(said)
                if not ends:
                    connection.recv(1)  # until the client is gone

        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(serve)
            request = protocol.Request(["check", "none.ipynb"], "/", {}, [])
            assert client._asked(request, tmp_path) is None
            served.result(timeout=HANGS)
    os.close(folder)


def test_only_processes_of_the_same_user_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel says whose process is at the other end."""
    connection, other = socket.socketpair()
    with connection, other:
        assert protocol.is_own(connection)
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        assert not protocol.is_own(connection)


def test_another_setting_that_lasts_is_another_daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another course, interpreter or search path, another PATH; but not what differs between two terminals."""
    monkeypatch.setenv("TERM", "dumb")
    known = {protocol.paths(3, tmp_path)}
    monkeypatch.setenv("TERM", "xterm")
    assert known == {protocol.paths(3, tmp_path)}
    known.add(protocol.paths(3, tmp_path / "other"))
    for change in (
        lambda patch: patch.setattr(sys, "executable", "/other/python"),
        lambda patch: patch.syspath_prepend(tmp_path),
        lambda patch: patch.setenv("PATH", "/other"),
        lambda patch: patch.setenv("PYTHONWARNINGS", "error"),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            known.add(protocol.paths(3, tmp_path))
    assert len(known) == 6
