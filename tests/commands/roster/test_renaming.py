"""A student or an assignment gets another name everywhere or nowhere, and a removed student loses no file."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.entry import Kind
from grader.classroom.record.record import Record
from grader.commands.cli import main
from grader.commands.roster import renaming
from grader.commands.serve.accounts import Accounts
from grader.commands.serve.store import DATABASE, Store
from grader.commands.shared import MARK_LOCK, SERVE_LOCK
from grader.errors import GraderError
from grader.files import locked
from tests.commands.roster.known_course import make_known, state
from tests.commands.serve.serving import tokens
from tests.support.notebooks import answered
from tests.support.postgres import Postgres
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, ledger, make_course, released

pytestmark = pytest.mark.slow

NEW = "d'angelo"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course, which no test changes."""
    folder = tmp_path_factory.mktemp("known") / "course"
    folder.parent.mkdir(exist_ok=True)
    before = os.getcwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        return make_known(folder)
    finally:
        os.chdir(before)


@pytest.fixture
def course(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the course as the working folder."""
    folder = shutil.copytree(made, tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


def test_everything_goes_along(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files, marks, comments, extension, hand-ins, token, history and requests; no one is graded again."""
    known, token = state(course, "ann"), tokens(course)["ann"]
    assert known["attempts"] == 1 and len(known["tokens"]) == 1 and known["requests"] == ["Why?"]
    assert known["returned"]
    assert known["history"] and known["extensions"] and known["scores"]["comments"]["why"] == (None, "well said")
    assert f".{NAME}.times.json" in known["files"]
    assert main(["roster", "--rename", "ann", NEW]) == 0
    assert f"ann is {NEW} now" in capsys.readouterr().out
    assert state(course, NEW) == known and Accounts(course).student(token) == NEW
    assert not any(state(course, "ann").values()) and grade_class(course) == []
    assert main(["grade", NAME, "--explain", NEW]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"renamed ann → {NEW}" in shown and "asks for a regrade: Why?" in shown
    assert not list(course.rglob("*ann*")) and state(course, "bob") != known


def test_what_cannot_be_is_refused_and_changes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one sentence. Files of two students are not mixed, and no program goes on to write under the old name.

    A folder with a bad name was never graded, as the table of grades says; it is renamed, and then graded.
    """
    (course / "feedback" / "old").mkdir()
    before = contents(course)
    for words, error in (
        (("--rename", "ann", "bob"), "there is already a student 'bob'"),
        (("--rename", "ann", "ann"), "there is already a student 'ann'"),
        (("--rename", "ann", "old"), f"already a student 'old' ({course / 'feedback' / 'old'})"),
        (("--rename", "eve", "eva"), "there is no student 'eve', neither in the gradebook nor in submitted/"),
        (("--rename", "ann", "a/b"), "a student's name has letters"),
        (("--rename", "..", "up"), "there is no student '..'"),
        (("--rename", ".source", "up"), "there is no student '.source'"),
        (("--rename", "ann/01-small", "up"), "there is no student 'ann/01-small'"),
        (("--remove", ""), "grader roster takes one of these"),
        (("--remove", "eve"), "there is no student 'eve'"),
        (("file.csv", "--remove", "ann"), "grader roster takes one of these"),
        ((), "grader roster takes one of these"),
    ):
        assert main(["roster", *words]) == 1 and error in capsys.readouterr().err
        assert contents(course) == before
    for lock, program in ((SERVE_LOCK, "grader serve"), (MARK_LOCK, "grader mark")):
        with locked(course / lock):
            assert main(["roster", "--rename", "ann", NEW]) == 1
        assert f"'{program}' is running" in capsys.readouterr().err and contents(course) == before
    hand_in(course, "a+b", answered(released(course), **RIGHT))
    assert main(["grade", NAME]) == 1 and main(["roster", "--rename", "a+b", "ab"]) == 0
    assert grade_class(course) == ["ab"] and ledger(course)["ab"]["score"] == 8


def test_another_order_of_folders_is_renamed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of each assignment, with the times beside it."""
    course = make_course(tmp_path / "course")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'\n")
    monkeypatch.chdir(course)
    place = course / "submitted" / NAME
    hand_in(course, "x", answered(released(course), **RIGHT)).rename(tmp_path / "work")
    shutil.rmtree(course / "submitted")
    place.mkdir(parents=True)
    (tmp_path / "work").rename(place / "ann")
    (place / ".ann.times.json").write_text("{}")
    assert main(["roster", "--rename", "ann", NEW]) == 0
    assert sorted(path.name for path in place.iterdir()) == [f".{NEW}.times.json", NEW]


def test_a_removed_student_does_not_come_back_and_loses_no_file(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by the next run, nor by the service; the record has the marks, and the name is free again."""
    known, token = state(course, "ann"), tokens(course)["ann"]
    assert main(["roster", "--remove", "ann"]) == 0
    out = capsys.readouterr().out
    assert "ann is removed, and the marks are in record.jsonl; the files are in removed/ann/" in out
    kept = {step: [*(course / "removed" / "ann" / step / "ann").rglob("*")] for step in ("submitted", "feedback")}
    assert all(kept.values()) and (course / "removed/ann/submitted/ann" / NAME / "small.ipynb").exists()
    assert main(["grade", NAME]) == 0 and ledger(course).keys() == {"bob"}
    assert Accounts(course).student(token) is None and "ann" not in tokens(course)
    store = Store(f"sqlite:///{course / DATABASE}")
    assert [row.student for row in store.recover()] == ["bob"]
    store.close()
    entries = Record(course).entries()
    assert [entry.kind for entry in entries if entry.student == "ann"][-1] is Kind.REMOVAL
    assert known["history"] and len(entries) > len(known["history"])
    assert main(["roster", "--remove", "ann"]) == 1 and "there is no student 'ann'" in capsys.readouterr().err
    hand_in(course, "ann", answered(released(course), **RIGHT))
    assert grade_class(course) == ["ann"] and main(["roster", "--remove", "ann"]) == 0
    assert "removed/ann-2/" in capsys.readouterr().out


def test_an_assignment_is_renamed_with_all_marks(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And explains and exports under the new name; what a person must do is said."""
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"c.SubmissionPolicy.assignments = {{'{NAME}': {{}}}}\n")
    known = state(course, "ann")
    assert main(["report", NAME]) == 0
    before = ledger(course)
    capsys.readouterr()
    assert main(["rename", NAME, "02-new"]) == 0
    out = capsys.readouterr().out
    assert f"{NAME} is 02-new now" in out and "change the name in nbgrader_config.py" in out
    assert "run 'grader release 02-new'" in out
    after = state(course, "ann", "02-new")
    assert after["history"] == known["history"] and after["requests"] == ["Why?"] and after["attempts"] == 1
    assert after["returned"] == known["returned"]
    assert {path.replace("02-new", NAME) for path in after["files"]} == known["files"].keys()
    with CourseDir(course).gradebook() as gradebook:
        scores = {each.student.id: each.score for each in gradebook.find_assignment("02-new").submissions}
    assert scores == {student: each["score"] for student, each in before.items()}
    assert (course / "reports" / "02-new" / "index.html").exists() and (course / "release" / "02-new").is_dir()
    assert main(["grade", "02-new", "--explain", "ann"]) == 0 and "well" not in capsys.readouterr().err
    assert main(["grade", "02-new"]) == 0
    with CourseDir(course).gradebook() as gradebook:
        assert gradebook.find_grade("why", "small", "02-new", "ann").manual_score == 3
    assert not [path for path in course.rglob(f"*{NAME}*")]
    for words in (("02-new", "02-new"), ("03-none", "04"), ("02-new", "a+b"), ("02-new", "a/b")):
        assert main(["rename", *words]) == 1


STEPS: list[tuple[Any, str]] = [
    (renaming, "write_unfinished"), (renaming, "_move"), (renaming, "_change_hand_ins"), (renaming, "rename_account"),
    (Record, "_append"), (renaming, "_change_gradebook"),
]  # fmt: skip


def _killed(root: Path, words: list[str], at: int) -> None:
    """Run a command and kill it before the `at`-th step."""
    passed = 0

    def border() -> None:
        nonlocal passed
        passed += 1
        if passed == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def stopping(step: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **options: Any) -> Any:
            border()
            return step(*arguments, **options)

        return made

    for owner, name in STEPS:
        setattr(owner, name, stopping(getattr(owner, name)))
    os.chdir(root)
    os._exit(main(words))


def borders(made: Path, tmp_path: Path, words: list[str]) -> Iterator[Path]:
    """Yield copies of the course, in each of which the command was killed before another step."""
    for at in range(1, 100):
        folder = shutil.copytree(made, tmp_path / f"killed-{at}" / "course")
        process = multiprocessing.get_context("fork").Process(target=_killed, args=(folder, words, at))
        process.start()
        process.join()
        if process.exitcode != -signal.SIGKILL:
            assert process.exitcode == 0 and at > 6
            return
        yield folder


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (["roster", "--rename", "ann", NEW], ("ann", NAME), (NEW, NAME)),
        (["rename", NAME, "02-new"], ("ann", NAME), ("ann", "02-new")),
        (["roster", "--remove", "ann"], ("ann", NAME), ("", "")),
    ],
)
def test_a_kill_at_any_step_leaves_all_of_the_old_or_asks_for_the_rest(
    made: Path, tmp_path: Path, words: list[str], old: tuple[str, str], new: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Until the same command is run again, no other one works; then everything is as without a kill."""
    whole = shutil.copytree(made, tmp_path / "whole" / "course")
    monkeypatch.chdir(whole)
    assert main(words) == 0
    begun = 0
    for folder in borders(made, tmp_path, words):
        monkeypatch.chdir(folder)
        capsys.readouterr()
        try:
            CourseDir(folder)
        except GraderError as error:
            begun += 1
            assert "again, which finishes it" in str(error) and words[-1] in str(error)
            assert begun > 1 or (main(["grade", NAME]) == 1 and "was interrupted" in capsys.readouterr().err)
            assert main(["roster", "--rename", "bob", "rob"]) == 1 and "again first" in capsys.readouterr().err
        else:
            if contents(folder).keys() == contents(whole).keys():
                continue  # it was done
            assert state(folder, *old) == state(made, *old)
        assert main(words) == 0, capsys.readouterr().err
        if new[0]:
            assert state(folder, *new) == state(whole, *new)
        assert contents(folder).keys() == contents(whole).keys()
        renamed = [entry for entry in Record(folder).entries() if entry.kind in (Kind.RENAME, Kind.REMOVAL)]
        assert len(renamed) == 1 and CourseDir(folder).root == folder.resolve()
    assert begun > 4


def contents(course: Path) -> dict[str, bytes]:
    """Return the files of a course, without those that SQLite keeps beside a database and the locks."""
    return {
        path.relative_to(course).as_posix(): path.read_bytes()
        for path in sorted(course.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm", "-journal", ".lock")) and path.name != DATABASE
    }


def test_names_change_in_postgresql_as_well(
    database: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which keeps submissions with an unknown student out, and has the hand-ins in the same database."""
    course = make_course(tmp_path / "course")
    (course / "gradebook.db").unlink(missing_ok=True)
    url = database.new_database("renaming")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    monkeypatch.chdir(course)
    work = answered(released(course), **RIGHT)
    hand_in(course, "ann", work)
    assert grade_class(course) == ["ann"]
    store = Store(url)
    store.accept("ann", NAME, "small", b"{}", "print", 10**6, lambda now, attempts: None)
    before = ledger(course)["ann"]
    assert main(["roster", "--rename", "ann", NEW]) == 0, capsys.readouterr().err
    assert ledger(course) == {NEW: before} and store.knows(NEW) and not store.knows("ann")
    assert main(["rename", NAME, "02-new"]) == 0, capsys.readouterr().err
    assert store.attempts(NEW, "02-new", "small").used == 1
    assert main(["roster", "--remove", NEW]) == 0, capsys.readouterr().err
    assert store.recover() == []
    store.close()
    with CourseDir(course).gradebook() as gradebook:
        assert gradebook.students == [] and gradebook.find_assignment("02-new").submissions == []
