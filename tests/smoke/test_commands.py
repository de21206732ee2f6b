"""Each command of the grader once, on a small class, as a program of its own. tests/commands tries more of each."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from grader.classroom.course_dir import CourseDir
from grader.commands.doctor.examination import FIRST_WALL
from tests.commands.serve.serving import MISCONCEPTION
from tests.support import surroundings
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SCORES, hand_in, make_class, points, released
from tests.support.waiting import HANGS

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "GRADER_DAEMON_SECONDS": "0"}


def run(folder: Path, *command: str, status: int = 0) -> str:
    """Run a command in a course folder, and return what it printed; fail if it ends with another status."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=HANGS
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def serving(folder: Path, *command: str) -> Iterator[str]:
    """Start a command that serves pages, yield the address that it prints, and end it by Ctrl-C."""
    program = [sys.executable, "-m", "grader", *command]
    with subprocess.Popen(program, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(HANGS)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of five students that was released and graded."""
    folder = make_class(tmp_path_factory.mktemp("commands") / "course")
    shutil.rmtree(folder / "release")
    mistakes = folder / "source" / NAME / "misconceptions"
    mistakes.mkdir()
    (mistakes / "one.toml").write_text(MISCONCEPTION)
    assert NAME in run(folder, "grader", "release")
    table = run(folder, "grader", "grade", NAME)
    assert all(f"{points:g} / 8" in table for points in SCORES.values())
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    """A copy of that class to change."""
    return shutil.copytree(graded, tmp_path / "course")


def test_release_and_grade(graded: Path) -> None:
    """The release has no solution; gradebook, autograded notebooks and pages have the points that were earned."""
    assert "return x" not in (graded / "release" / NAME / "small.ipynb").read_text()
    assert points(graded) == SCORES
    for student in SCORES:
        assert (graded / "autograded" / student / NAME / "small.ipynb").is_file()
        page = BeautifulSoup((graded / "feedback" / student / NAME / "small.html").read_text(), "html.parser")
        assert len(page.select(".exercises > li")) == 3, "one line for each exercise"


def test_a_damaged_notebook_is_repaired(graded: Path) -> None:
    """A test that cat deleted is in the autograded notebook again, and the report says so."""
    assert '"grade_id": "one-test-more"' in (graded / "autograded" / "cat" / NAME / "small.ipynb").read_text()
    explained = " ".join(run(graded, "grader", "grade", NAME, "--explain", "cat").split())
    assert "one-test-more: this cell was missing and was restored" in explained


def test_extend(course: Path) -> None:
    """The new due date is printed."""
    run(course, "nbgrader", "db", "assignment", "add", NAME, "--duedate=2030-01-01 12:00")
    assert "2030-01-05" in run(course, "grader", "extend", "ann", NAME, "2030-01-05 12:00")


def test_mark(course: Path) -> None:
    """The page lists the question and the answers that wait."""
    with serving(course, "mark", NAME, "--bind=127.0.0.1:0", "--no-browser", "--marker=mia") as link:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = BeautifulSoup(opener.open(link, timeout=HANGS).read(), "html.parser")
    assert "why" in page.get_text() and page.find("table")


def test_feedback(course: Path) -> None:
    """The page of a student is written again, and with --unmarked it goes out before the answer is marked."""
    page = course / "feedback" / "ann" / NAME / "small.html"
    page.unlink()
    run(course, "grader", "feedback", NAME, "--student=ann")
    assert page.is_file() and not list((course / "returned").rglob("*ann*"))
    run(course, "grader", "feedback", NAME, "--student=ann", "--unmarked")
    assert list((course / "returned").rglob("*ann*"))


def test_report(course: Path) -> None:
    """The page has a table with each exercise, and the file has the points of the gradebook."""
    run(course, "grader", "report", NAME)
    [page] = (course / "reports").rglob("*.html")
    text = " ".join(table.get_text(" ") for table in BeautifulSoup(page.read_text(), "html.parser").find_all("table"))
    assert "one" in text and "two" in text
    [file] = (course / "reports").rglob("report.json")
    assert {each["name"]: each["points"] for each in json.loads(file.read_text())["students"]} == SCORES


def test_requests(course: Path) -> None:
    """No student asks for a regrade."""
    assert "no request waits" in run(course, "grader", "requests")


def test_check(course: Path) -> None:
    """A known mistake gets its hint, and the exit status is 1."""
    wrong = answered(released(course), **RIGHT | {"one": "def one(x=1):\n    return x + 1"})
    notebook = hand_in(course, "ann", wrong) / "small.ipynb"
    printed = run(course, "grader", "check", str(notebook), "--trust", status=1)
    assert "Leave it as it is." in " ".join(printed.split()) and "two" in printed


def test_roster_tokens_and_serve(course: Path) -> None:
    """Students of a CSV file get tokens; a notebook that one of them hands in is graded."""
    (course / "class.csv").write_text("id,first_name,last_name,email\nann,Ann,A,\nzoe,Zoe,Z,\n")
    assert "1 added" in run(course, "grader", "roster", "class.csv")
    run(course, "grader", "tokens", "class.csv")
    with (course / "tokens.csv").open() as file:
        tokens = {row["id"]: row["token"] for row in csv.DictReader(file)}
    right = (course / "submitted" / "ann" / NAME / "small.ipynb").read_bytes()
    with serving(course, "serve", "--bind=127.0.0.1:0") as address:

        def ask(path: str, data: bytes | None = None) -> dict[str, object]:
            headers = {"Authorization": f"Bearer {tokens['zoe']}"}
            request = urllib.request.Request(address.rstrip("/") + path, data, headers)
            with urllib.request.urlopen(request, timeout=HANGS) as reply:
                answer: dict[str, object] = json.load(reply)
            return answer

        place = ask(f"/hand-in/{NAME}/small", right)["id"]
        while (state := ask(f"/hand-in/{place}?wait=10"))["state"] in ("waiting", "grading"):
            pass
    assert state["state"] == "graded" and points(course)["zoe"] == SCORES["ann"]


def test_import_and_export(course: Path) -> None:
    """Notebooks in an archive are put into place, and points go out as a table."""
    with zipfile.ZipFile(course / "class.zip", "w") as archive:
        archive.write(course / "submitted" / "ann" / NAME / "small.ipynb", "eve/small.ipynb")
    shutil.rmtree(course / "submitted" / "eve")
    run(course, "grader", "import", "class.zip", "--assignment", NAME)
    assert (course / "submitted" / "eve" / NAME / "small.ipynb").is_file()
    run(course, "grader", "export", NAME, "--for=csv", "--output=grades.csv", "--unmarked")
    with (course / "grades.csv").open() as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert SCORES.items() <= exported.items()


def test_rename_backup_and_restore(course: Path, tmp_path: Path) -> None:
    """A renamed assignment comes back from a backup with its points."""
    run(course, "grader", "rename", NAME, "02-small")
    run(course, "grader", "backup", str(tmp_path / "all.tar"))
    run(tmp_path, "grader", "restore", "all.tar", "again")
    with CourseDir(tmp_path / "again").gradebook() as gradebook:
        assert {each.student.id: each.score for each in gradebook.find_assignment("02-small").submissions} == SCORES


def test_prove(course: Path) -> None:
    """The known mistake loses points."""
    assert "adds one" in run(course, "grader", "prove", NAME, "--exercise=one", "--json", status=1)


def test_doctor(tmp_path: Path) -> None:
    """Grading starts on this machine, and where the kernel refuses namespaces: Landlock and seccomp hold alone."""
    assert json.loads(run(tmp_path, "grader", "doctor", "--json"))["grading"] is True
    command = surroundings.python_without("unshare,setns", "-m", "grader", "doctor", "--json")
    alone = json.loads(
        subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=HANGS).stdout
    )
    assert alone["grading"] is True
    assert FIRST_WALL.keys() <= {each["name"] for each in alone["protections"] if each["holds"]}


def test_worker_setup(tmp_path: Path) -> None:
    """It needs a course folder; tests/commands/cluster gives it one, and a cluster."""
    assert "nbgrader_config.py" in run(tmp_path, "grader", "worker-setup", "tcp://127.0.0.1:1", status=1)


def test_nbgrader_autograde(course: Path) -> None:
    """The plug-in gives the points of `grader grade`."""
    hand_in(course, "bob", answered(released(course), **RIGHT))
    run(course, "nbgrader", "autograde", NAME, "--student=bob", "--force")
    assert points(course) == SCORES | {"bob": SCORES["ann"]}


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    """With the usage, and exit status 2."""
    assert "usage: grader" in run(tmp_path, "grader", "grade", NAME, "--no-such-option", status=2)
