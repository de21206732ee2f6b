"""The commands as a person runs them: what they print, how they end, and one clear line where they cannot."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from notebooks import answered
from small_class import NAME, RIGHT, SCORES, hand_in, make_class, make_course, points, released, run

from course.classroom import Classroom
from course.cli import main


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class that `python -m course grade` has graded, and what that said."""
    folder = make_class(tmp_path_factory.mktemp("cli") / "course")
    return folder, run(folder, "course", "grade", NAME, "--jobs", "2")


@pytest.fixture
def again(graded, tmp_path, monkeypatch):
    """A copy of the graded class, which is the working folder too."""
    folder = shutil.copytree(graded[0], tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def test_grading_ends_with_a_table(graded):
    """A row a student, exit status 0, no word on stderr, and no progress bar where nobody watches."""
    folder, done = graded
    assert done.returncode == 0 and done.stderr == ""
    assert points(folder) == SCORES
    for student, score in SCORES.items():
        (row,) = (line for line in done.stdout.splitlines() if student in line)
        assert f"{score:g} / 8" in row and "0 / 2" in row
    assert "grading" not in done.stdout and "%" not in done.stdout and "\r" not in done.stdout


def test_the_table_tells_who_was_late(again, capsys):
    """In words, and what it costs; who was in time, has an extension or told no time is not late."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with Classroom(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
        gradebook.grant_extension(NAME, "cat", days=2)
    moments = {"ann": "02 12:00:30", "bob": "02 14:10:00", "cat": "04 12:00:00", "dan": "09 13:00:00"}
    for student, moment in moments.items():
        (again / "submitted" / student / NAME / "timestamp.txt").write_text(f"2030-01-{moment} UTC")
    assert main(["grade", NAME]) == 0
    rows = " ".join(capsys.readouterr().out.replace("│", " ").split())
    told = {name: rows[rows.index(name) :].split(following)[0] for name, following in pairwise([*sorted(SCORES), "└"])}
    assert "1 min late, 8 points taken off" in told["ann"] and "2 h late, 5.5 points taken off" in told["bob"]
    assert "7 days late" in told["dan"] and "late" not in told["cat"] + told["eve"]


def test_what_tests_and_students_print_stays_inside(again, capfd):
    """A print in student code or in a test does not end up on the instructor's screen."""
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": "print('LOUD')\ndef one(x=1):\n    return x"}))
    assert main(["grade", NAME]) == 0
    out, err = capfd.readouterr()
    assert "LOUD" not in out + err and "Traceback" not in out + err


def test_an_unreadable_notebook_is_one_line_and_exit_status_1(again, capsys):
    """The rest is graded, and the table says whose and why."""
    hand_in(again, "hal", b"{")
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    assert main(["grade", NAME]) == 1
    out = capsys.readouterr().out
    assert "small.ipynb is not JSON" in " ".join(out.split()) and points(again)["ivy"] == 8
    assert main(["grade", NAME]) == 1


def test_a_number_of_jobs_is_not_negative(again, capsys):
    """Nor a word."""
    for jobs, words in ((["--jobs", "-3"], "expected 1 or more"), (["--jobs", "many"], "many")):
        with pytest.raises(SystemExit):
            main(["grade", NAME, *jobs])
        assert words in capsys.readouterr().err


def test_only_the_students_named_are_graded(again, capsys):
    """Also when more are to be, and again with --force; the table shows them alone."""
    for student in ("ann", "bob", "cat"):
        hand_in(again, student, answered(released(again)))
    assert main(["grade", NAME, "--student", "ann", "--student=bob"]) == 0
    out = capsys.readouterr().out
    assert points(again) == SCORES | {"ann": 0, "bob": 0}
    assert "ann" in out and "bob" in out and "cat" not in out and "dan" not in out


def test_an_unknown_student_is_told(again, capsys):
    """One line that says where their notebooks were looked for; nobody is graded, the one that is known neither."""
    hand_in(again, "ann", answered(released(again)))
    for student in ("anna", "../ann", "*"):
        assert main(["grade", NAME, "--student", "ann", "--student", student]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"course: no submission of '{NAME}' by '{student}'") and f"submitted/*/{NAME}" in line
    assert points(again) == SCORES


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["grade", "02-none"], "course: no assignment '02-none' in source/; there is 01-small"),
        (["release", "02-none"], "course: no assignment '02-none' in source/; there is 01-small"),
        (["grade", "../source"], "course: no assignment '../source' in source/; there is 01-small"),
    ],
)
def test_an_unknown_assignment_is_told_with_the_known_ones(again, capsys, arguments, line):
    """One line on stderr, exit status 1."""
    assert main(arguments) == 1
    assert capsys.readouterr().err.splitlines() == [line]


@pytest.mark.parametrize(
    ("settings", "words"),
    [("mode=ro&uri=true", "readonly"), ("timeout=0.1&uri=true", "locked"), ("mode=rw&uri=true", "")],
)
def test_a_gradebook_that_cannot_be_written_is_one_line(again, capsys, settings, words):
    """Read-only or held by another program: one line for the whole class, exit status 1. One that can be is graded."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.db_url = 'sqlite:///file:{again}/gradebook.db?{settings}'\n")
    with closing(sqlite3.connect(again / "gradebook.db")) as other:
        if words == "locked":
            other.execute("BEGIN EXCLUSIVE")
        assert main(["grade", NAME, "--force"]) == bool(words)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == bool(words) and all(line.startswith("course: the gradebook cannot") for line in lines)
    assert all(words in line for line in lines)


def test_no_submissions_is_told(tmp_path, monkeypatch, capsys):
    """With where to put them."""
    monkeypatch.chdir(make_course(tmp_path / "course"))
    assert main(["grade", NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"course: no submissions of '{NAME}'") and f"submitted/*/{NAME}" in line


def test_a_folder_that_is_no_course_is_told(tmp_path, monkeypatch, capsys):
    """With what to do."""
    monkeypatch.chdir(tmp_path)
    for command in (["grade", NAME], ["release"], ["demo"]):
        assert main(command) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("course: ")


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
    ],
)
def test_a_wrong_setting_is_one_line(again, capsys, command, setting, words):
    """That names the file and says what is wrong with it; exit status 1."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write(f"{setting}\n")
    assert main([command, f"submitted/ann/{NAME}/small.ipynb" if command == "check" else NAME]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("course: ") and "nbgrader_config.py cannot be" in line and words in line


def test_a_kernel_that_cannot_confine_is_a_refusal(again, monkeypatch, capsys):
    """In one line that names the way out; with --no-sandbox grading goes on."""
    import py_landlock

    def missing():
        raise py_landlock.LandlockError("no Landlock here")

    monkeypatch.setattr(py_landlock, "get_abi_version", missing)
    assert main(["grade", NAME, "--force"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "no Landlock here" in line and "--no-sandbox" in line
    assert main(["grade", NAME, "--force", "--no-sandbox"]) == 0 and points(again) == SCORES


def test_checking_one_notebook_says_what_passed(again, capsys):
    """Without a gradebook; exit status 0 for full points only, so that a script can ask."""
    before = points(again)
    for student, status in (("ann", 0), ("bob", 1)):
        assert main(["check", f"submitted/{student}/{NAME}/small.ipynb"]) == status
        said = capsys.readouterr().out
        assert f"{SCORES[student]:g} of 8 points" in said and "one-test-more" in said
    assert main(["check", f"submitted/cat/{NAME}/small.ipynb"]) == 0
    assert "one-test-more: this cell was missing and is back" in " ".join(capsys.readouterr().out.split())
    assert points(again) == before


def test_checking_what_is_no_notebook_of_the_course_is_told(again, tmp_path, capsys):
    """A file that is not there, is no notebook, or is called otherwise: one line each, for the student whose it is."""
    (again / "small.ipynb").write_text("{")
    (again / "renamed.ipynb").write_text("{}")
    for name, words in (
        ("small.ipynb", "is not JSON"),
        ("small.ipynb", "save it once more"),
        ("renamed.ipynb", "give it the name it was released with"),
        ("none/small.ipynb", "small.ipynb is not there"),
        ("submitted", "is a folder: name one notebook"),
    ):
        assert main(["check", name]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("course: ") and words in line


def test_who_has_no_source_cannot_check(again, capsys):
    """A student with a configuration of their own, say."""
    shutil.rmtree(again / "source")
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    assert "has none in source/" in capsys.readouterr().err


def test_release_writes_what_students_get(tmp_path, monkeypatch, capsys):
    """All assignments, without solutions and hidden tests."""
    folder = make_course(tmp_path / "course")
    shutil.rmtree(folder / "release")
    monkeypatch.chdir(folder)
    assert main(["release"]) == 0
    assert capsys.readouterr().out == f"released release/{NAME}\n"
    said = (folder / "release" / NAME / "small.ipynb").read_text()
    assert "BEGIN SOLUTION" not in said and "one(3)" not in said and "one(x) is x." in said


def test_help_names_every_command(capsys):
    """In words, and a command that is none is an error of the call."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and all(command in said for command in ("release", "grade", "demo"))
    with pytest.raises(SystemExit) as ended:
        main(["grades"])
    assert ended.value.code == 2


def test_a_notebook_is_checked_from_where_it_lies(again, monkeypatch, capsys):
    """The course folder is looked for above the notebook; where there is no such file, this is said."""
    monkeypatch.chdir(again / "submitted" / "ann" / NAME)
    assert main(["check", "small.ipynb"]) == 0
    assert "8 of 8 points" in capsys.readouterr().out
    assert main(["check", "smal.ipynb"]) == 1
    assert capsys.readouterr().err == "course: smal.ipynb is not there: name one notebook\n"


def test_checking_says_which_answer_stopped_and_why(again, capsys):
    """Its tests only miss a name; the reason is told once."""
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": "import no_such_thing\n" + RIGHT["one"]}))
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("stopped before its end: one: <one>, line 1: import no_such_thing; ModuleNotFoundError:") == 1
    assert "two: <two>" not in said


def test_where_something_is_missing_the_commands_say_so(again):
    """Another system than Linux, or no libseccomp: one line; without a sandbox the latter is not needed."""
    mac = "import sys; sys.platform = 'darwin'"
    bare = (
        "import ctypes.util; find = ctypes.util.find_library\n"
        "ctypes.util.find_library = lambda name: None if name == 'seccomp' else find(name)"
    )
    for prelude, options, words in (
        (mac, [], "these commands need Linux"),
        (bare, [], "libseccomp is missing"),
        (bare, ["--no-sandbox"], ""),
    ):
        command = ["course", "check", f"submitted/ann/{NAME}/small.ipynb", *options]
        code = f"{prelude}\nimport runpy, sys\nsys.argv = {command}\nrunpy.run_module('course', run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", code], cwd=again, capture_output=True, text=True, timeout=120)
        assert bool(done.returncode) == bool(words) and words in done.stderr
        assert len(done.stderr.splitlines()) == bool(words)


def test_who_stops_a_run_while_it_starts_is_told_no_more(again):
    """Ctrl-C goes to all processes of a terminal, and the fork server is still loading what it needs."""
    command = [sys.executable, "-m", "course", "grade", NAME, "--force"]
    run = subprocess.Popen(command, cwd=again, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not any("forkserver" in program for program in children(run.pid)):
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(run.pid, signal.SIGINT)
    assert len(run.communicate(timeout=60)[1].splitlines()) == 1
    # Where it was in the middle of an exec, Python ends by the signal itself; a shell says 130 to both.
    assert run.returncode in (130, -signal.SIGINT)


def children(process):
    """The command lines of the processes that `process` has started."""
    numbers = " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")).split()
    return [Path(f"/proc/{number}/cmdline").read_text() for number in numbers]


def test_who_stops_a_run_is_told_how_it_goes_on(again, monkeypatch, capsys):
    """One line and no traceback."""
    monkeypatch.setattr("course.cli._grade_and_show", lambda run: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["grade", NAME]) == 130
    assert capsys.readouterr().err == "course: stopped; `grade` goes on where it ended when it is run again\n"
