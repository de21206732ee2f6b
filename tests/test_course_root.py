"""`grader check` runs what comes with a course folder once a person has agreed to it, while it stays theirs alone."""

import os
import shutil
from pathlib import Path

import pexpect
import pytest

from grader.classroom.course_root import OWN, is_known, remember, state_file
from grader.commands.cli import main
from tests.commands.check.terminal import PROGRAM, Terminal
from tests.support.paths import REPOSITORY
from tests.support.small_class import make_course
from tests.support.waiting import HANGS

Capture = pytest.CaptureFixture[str]
STRANGE = """
with open({!r}, "a") as trace:
    trace.write("run\\n")
from grader import nbgrader_plugin
c = get_config()
"""
"""A configuration that leaves a trace."""


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The folder of a stranger, as it comes out of a zip archive: everything is one's own, and nothing is known."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    course = make_course(tmp_path / "course")
    config = course / "nbgrader_config.py"
    config.write_text(STRANGE.format(str(tmp_path / "trace")) + config.read_text().replace("c = get_config()", ""))
    terminal = Terminal(course, os.environ | {"PYTHONPATH": str(REPOSITORY)})
    terminal.write("mine")
    monkeypatch.chdir(course / "mine")
    return terminal


def has_run(terminal: Terminal) -> bool:
    """Whether the configuration has run since the last time."""
    trace = terminal.course.parent / "trace"
    found = trace.exists()
    trace.unlink(missing_ok=True)
    return found


def refused(capsys: Capture) -> str:
    """Check the notebook, and return the one line that says why it was not checked."""
    capsys.readouterr()
    assert main(["check", "small.ipynb"]) == 1
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    return line


def test_a_folder_without_source_is_refused_before_its_configuration_runs(strange: Terminal, capsys: Capture) -> None:
    """The line says what is missing; the configuration might have made it."""
    shutil.rmtree(strange.course / "source")
    assert f"{strange.course} has none in source/: ask someone who has" in refused(capsys)
    assert not has_run(strange)


def test_where_no_one_can_be_asked_a_line_says_what_to_do(strange: Terminal, capsys: Capture) -> None:
    """--trust agrees, once for all; the folder is then a line in a file of this user."""
    line = refused(capsys)
    assert f"{strange.course} has not been used before, and its nbgrader_config.py and the tests in source/" in line
    assert line.endswith("run this once with --trust") and not has_run(strange) and not is_known(strange.course)
    assert main(["check", "small.ipynb", "--trust"]) == 0 and has_run(strange)
    assert main(["check", "small.ipynb"]) == 0
    assert state_file("courses").read_text() == f"{strange.course}\n"


@pytest.mark.slow
def test_a_person_is_asked_once(strange: Terminal) -> None:
    """Anything but yes runs nothing; the question does not get into the report of --json."""
    for answer in ("", "n", "\x04"):
        asked = strange.type("mine/small.ipynb")
        asked.expect_exact("Do you trust whoever made them? [y/N] ")
        asked.send(answer if answer == "\x04" else f"{answer}\r")
        assert "nothing of" in asked.read()
        asked.close()
        assert asked.exitstatus == 1 and not has_run(strange)
    command = f"{PROGRAM[0]} check mine/small.ipynb --json > report.json"
    asked = pexpect.spawn(
        "/bin/sh", ["-c", command], cwd=strange.course, env=strange.environment, encoding="utf-8", timeout=HANGS
    )
    asked.expect_exact("[y/N] ")
    asked.sendline("yes")
    asked.expect(pexpect.EOF)
    asked.close()
    assert asked.exitstatus == 0 and has_run(strange) and is_known(strange.course)
    assert (strange.course / "report.json").read_text().startswith("{")
    again = strange.type("mine/small.ipynb")
    assert "[y/N]" not in again.read()


@pytest.mark.parametrize("part", ["", "nbgrader_config.py", "source"])
def test_a_folder_that_others_may_change_is_refused(strange: Terminal, capsys: Capture, part: str) -> None:
    """Even if it was known, and without a question; --trust is for this time only."""
    remember(strange.course)
    path = strange.course / part
    mode = path.stat().st_mode
    path.chmod(mode | 0o002)
    assert f"{path} is not yours alone: other users may write to it, and nbgrader_config.py" in refused(capsys)
    assert not has_run(strange)
    assert main(["check", "small.ipynb", "--trust"]) == 0 and has_run(strange)
    assert "is not yours alone" in refused(capsys)
    path.chmod(mode)
    if os.geteuid() == 0:  # only root can give a file away
        os.chown(path, 65534, -1)
        assert f"{path} is not yours alone: it belongs to another user" in refused(capsys)
        os.chown(path, 0, -1)
    has_run(strange)
    assert main(["check", "small.ipynb"]) == 0 and has_run(strange)


def test_the_graders_own_folder_needs_no_question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its programs are running already: whoever cloned the repository is not asked."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert OWN == REPOSITORY and is_known(REPOSITORY) and not is_known(REPOSITORY / "source")


def test_a_name_makes_no_other_folder_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder whose name has two lines is not noted, and so the other one is not; strange signs do no harm."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    course = tmp_path / "course"
    two, odd = Path(f"{tmp_path}/x\n{course}"), tmp_path / os.fsdecode(b"\xff \r\x85")
    for folder in (course, two, odd):
        folder.mkdir(parents=True)
    remember(two)
    remember(odd)
    assert (is_known(course), is_known(two), is_known(odd)) == (False, False, True)


def test_a_note_that_cannot_be_written_stops_no_check(strange: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question comes again."""
    monkeypatch.setenv("XDG_STATE_HOME", str(strange.course / "nbgrader_config.py"))
    assert main(["check", "small.ipynb", "--trust"]) == 0 and not is_known(strange.course)
