"""The commands as a person runs them: their output, their exit status, and one clear line when they cannot go on."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.course_root import remember
from grader.commands.cli import main
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SCORES, hand_in, make_class, points, released
from tests.support.waiting import HANGS, until

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess[str]]:
    """A class that `grader grade` has graded, and the output of the command."""
    folder = make_class(tmp_path_factory.mktemp("cli") / "course")
    command = [sys.executable, "-m", "grader", "grade", NAME, "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return folder, subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS)


@pytest.fixture
def again(graded: tuple[Path, CompletedProcess[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the graded class, which is the working folder too."""
    folder = shutil.copytree(graded[0], tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def test_grading_ends_with_a_table(graded: tuple[Path, CompletedProcess[str]]) -> None:
    """One row per student, exit status 0, nothing on stderr, and no progress bar without a terminal."""
    folder, done = graded
    assert done.returncode == 0 and done.stderr == ""
    assert points(folder) == SCORES
    for student, score in SCORES.items():
        (row,) = (line for line in done.stdout.splitlines() if student in line)
        assert f"{score:g} / 8" in row and "0 / 2" in row
    assert "grading" not in done.stdout and "%" not in done.stdout and "\r" not in done.stdout


def test_the_table_shows_late_students(again: Path, capsys: Capture) -> None:
    """With the delay in words and its cost; a student in time, with an extension or without a timestamp is not late."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with CourseDir(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
        gradebook.grant_extension(NAME, "cat", days=2)
    moments = {"ann": "02 12:00:30", "bob": "02 14:10:00", "cat": "04 12:00:00", "dan": "09 13:00:00"}
    for student, moment in moments.items():
        (again / "submitted" / student / NAME / "timestamp.txt").write_text(f"2030-01-{moment} UTC")
    assert main(["grade", NAME]) == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    rows = {
        name: words[words.index(name) :].split(following)[0] for name, following in pairwise([*sorted(SCORES), "└"])
    }
    assert "1 min late, 8 points taken off" in rows["ann"] and "2 h late, 5.5 points taken off" in rows["bob"]
    assert "7 days late" in rows["dan"] and "late" not in rows["cat"] + rows["eve"]


def test_prints_of_tests_and_student_code_are_not_shown(again: Path, capfd: Capture) -> None:
    """A print in student code or in a test does not reach the instructor's terminal."""
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": "print('LOUD')\ndef one(x=1):\n    return x"}))
    assert main(["grade", NAME]) == 0
    out, err = capfd.readouterr()
    assert "LOUD" not in out + err and "Traceback" not in out + err


def test_an_unreadable_notebook_is_one_line_and_exit_status_1(again: Path, capsys: Capture) -> None:
    """The others are graded, and the table names the file and the reason, in every run."""
    hand_in(again, "hal", b"{")
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    assert main(["grade", NAME]) == 1
    out = capsys.readouterr().out
    assert "small.ipynb is not JSON" in " ".join(out.split()) and points(again)["ivy"] == 8
    assert main(["grade", NAME]) == 1


def test_a_number_of_jobs_is_not_negative(again: Path, capsys: Capture) -> None:
    """Nor a word."""
    for jobs, words in ((["--jobs", "-3"], "expected 0 or more"), (["--jobs", "many"], "many")):
        with pytest.raises(SystemExit):
            main(["grade", NAME, *jobs])
        assert words in capsys.readouterr().err


def test_only_the_students_named_are_graded(again: Path, capsys: Capture) -> None:
    """Also if others have changed, and the table shows only these."""
    for student in ("ann", "bob", "cat"):
        hand_in(again, student, answered(released(again)))
    assert main(["grade", NAME, "--student", "ann", "--student=bob"]) == 0
    out = capsys.readouterr().out
    assert points(again) == SCORES | {"ann": 0, "bob": 0}
    assert "ann" in out and "bob" in out and "cat" not in out and "dan" not in out


def test_what_there_is_not_is_one_line(
    again: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """On stderr, with exit status 1, and no one is graded: an assignment, a student, submissions, a course folder."""

    def line(*arguments: str) -> str:
        assert main([*arguments]) == 1
        (found,) = capsys.readouterr().err.splitlines()
        return found

    for command, name in (("grade", "02-none"), ("release", "02-none"), ("grade", "../source")):
        assert line(command, name) == f"grader: no assignment '{name}' in source/, which has 01-small"
    hand_in(again, "ann", answered(released(again)))
    for student in ("anna", "../ann", "*"):
        said = line("grade", NAME, "--student", "ann", "--student", student)
        assert said.startswith(f"grader: no submission of '{NAME}' by '{student}'") and f"submitted/*/{NAME}" in said
    assert points(again) == SCORES
    shutil.rmtree(again / "submitted")
    said = line("grade", NAME)
    assert said.startswith(f"grader: no submissions of '{NAME}'") and f"submitted/*/{NAME}" in said
    monkeypatch.chdir(tmp_path)
    for arguments in (["grade", NAME], ["release"], ["check", "small.ipynb"]):
        said = line(*arguments)
        assert said.startswith("grader: ") and said.endswith("change to your course folder")


@pytest.mark.parametrize(
    ("command", "setting", "words"),
    [
        ("grade", "c.Limits.cell_seconds = 'ten'", "The 'cell_seconds' trait of a Limits instance expected an int"),
        ("check", "c.Limits.threads = 0", "should not be less than 1"),
        ("check", "c.Limits.cel_seconds = 5", "no c.Limits.cel_seconds"),
        ("grade", "c.Limits.cel_seconds = 5", "no c.Limits.cel_seconds"),
        ("release", "c.CourseDirectory.course_id = 5", "expected a unicode string, not the int 5"),
        ("grade", "c.AssignLatePenalties.plugin_class = 'no.such.Rule'", "'no.such.Rule' could not be imported"),
        ("grade", "c.Limits.cell_seconds = 2 / 0", "division by zero"),
        ("release", "from nowhere import c", "No module named 'nowhere'"),
        ("grade", "c.Grader.helper_packages = 5", "expected a list, not the int 5"),
    ],
)
def test_a_wrong_setting_is_one_line(again: Path, capsys: Capture, command: str, setting: str, words: str) -> None:
    """It names the file and the error; exit status 1."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write(f"{setting}\n")
    remember(again)
    assert main([command, f"submitted/ann/{NAME}/small.ipynb" if command == "check" else NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("grader: ") and "nbgrader_config.py cannot be" in line and words in line


def test_a_kernel_that_cannot_confine_is_refused(again: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """In one line that names the alternative; with --no-sandbox the class is graded."""
    import py_landlock

    def missing() -> None:
        raise py_landlock.LandlockError("no Landlock here")

    monkeypatch.setattr(py_landlock, "get_abi_version", missing)
    assert main(["grade", NAME, "--force"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Landlock here" in line and "--no-sandbox" in line
    assert main(["grade", NAME, "--force", "--no-sandbox"]) == 0 and points(again) == SCORES


MAC = "import sys; sys.platform = 'darwin'"
WITHOUT_LIBSECCOMP = (
    "import sys; missing = 'libseccomp.so.2'\n"
    "def refuse(event, arguments):\n"
    "    if event == 'ctypes.dlopen' and arguments[0] == missing: raise OSError(missing)\n"
    "sys.addaudithook(refuse)"
)


@pytest.mark.parametrize(
    ("prelude", "options", "words"),
    [
        (MAC, [], "these commands need Linux"),
        (WITHOUT_LIBSECCOMP, [], "libseccomp is missing"),
        (WITHOUT_LIBSECCOMP, ["--no-sandbox"], ""),
    ],
)
def test_a_missing_requirement_is_one_line(again: Path, prelude: str, options: list[str], words: str) -> None:
    """Another system than Linux, or no libseccomp, which is not needed without a sandbox."""
    command = ["grader", "check", "--trust", f"submitted/ann/{NAME}/small.ipynb", *options]
    code = f"{prelude}\nimport runpy, sys\nsys.argv = {command}\nrunpy.run_module('grader', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=again, capture_output=True, text=True, timeout=HANGS)
    assert bool(done.returncode) == bool(words) and words in done.stderr
    assert len(done.stderr.splitlines()) == bool(words)


def test_ctrl_c_during_start_up_prints_one_line(again: Path) -> None:
    """Ctrl-C goes to all processes of a terminal, also to the fork server, which is still loading its modules."""
    command = [sys.executable, "-m", "grader", "grade", NAME, "--force"]
    process = subprocess.Popen(command, cwd=again, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: any("torch" in loaded(child) for child in children(process.pid)), "a fork server that loads torch")
    os.killpg(process.pid, signal.SIGINT)
    assert len(process.communicate(timeout=HANGS)[1].splitlines()) == 1
    # During an import Python may end by the signal itself; a shell reports 130 for both.
    assert process.returncode in (130, -signal.SIGINT)


def children(process: int) -> list[str]:
    """The processes that `process` has started."""
    return " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")).split()


def loaded(process: str) -> str:
    """The files that a process has mapped; none if it has ended."""
    try:
        return Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return ""


def test_ctrl_c_prints_how_to_continue(again: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """In one line, without a traceback."""

    def interrupted(run: object) -> Iterator[None]:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.commands.grade.console.grade_and_show", interrupted)
    assert main(["grade", NAME]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("grader: interrupted;") and "continue" in line
