"""In a class run, an error with one student does not affect others; one that affects all ends the run in one line."""

import errno
import os
import shutil
import sqlite3
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader import files
from grader.classroom import class_run
from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.results import StudentResult
from grader.classroom.student import Assignment, Submission, grade_submission
from grader.errors import GraderError
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SCORES, configure, grade_all, grade_class, hand_in, points, released

pytestmark = pytest.mark.slow


def test_files_that_cannot_be_read_are_errors_of_their_student(again: Path) -> None:
    """An invalid or overlong timestamp is ignored; a pipe blocks no run, and a link to the solution gains nothing.

    A missing notebook and an invalid one score zero with a line each, which the next run repeats; former results of a
    notebook that became unreadable are removed, because they no longer count. Its student's page gives the reason of
    the teacher's table, and says what the student can do.
    """
    times = [again / "submitted" / student / NAME / "timestamp.txt" for student in ("bob", "ann", "eve")]
    times[0].write_text("yesterday")
    os.mkfifo(times[1])
    times[2].write_text(f"2030-01-01 12:00:00{' ' * 100}UTC")
    for student, make in (
        ("cat", os.mkfifo),
        ("dan", lambda path: path.symlink_to(again / "source" / NAME / path.name)),
    ):
        path = again / "submitted" / student / NAME / "small.ipynb"
        path.unlink()
        make(path)
    hand_in(again, "gus", None)
    hand_in(again, "hal", b"{not json")
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    outcomes = grade_all(again)
    for student in "bob", "ann", "eve":
        assert "must contain a time" in outcomes[student].notices[0] and outcomes[student].reports
    assert "is not a file" in outcomes["cat"].errors[0] and "cannot be read" in outcomes["dan"].errors[0]
    assert outcomes["gus"].notices == ["small.ipynb was not handed in"] and not outcomes["gus"].errors
    assert "small.ipynb is not JSON" in outcomes["hal"].errors[0]
    assert points(again) == SCORES | {"cat": 0, "dan": 0, "gus": 0, "hal": 0, "ivy": 8}
    assert "ask the student" in outcomes["hal"].errors[0] and not (again / "feedback" / "gus").exists()
    for student, reason in (("cat", "is not a file"), ("dan", "it is a link"), ("hal", "small.ipynb is not JSON")):
        assert not (again / "autograded" / student / NAME / "small.ipynb").exists()
        assert not (again / "feedback" / student / NAME / "small.html").exists()
        page = (again / "feedback" / student / NAME / "index.html").read_text()
        assert reason in page and "and hand it in again." in page and "ask the student" not in page
    repeated = {student: outcome.errors for student, outcome in grade_all(again).items()}
    assert repeated == {student: outcome.errors for student, outcome in outcomes.items()}
    hand_in(again, "hal", answered(released(again), **RIGHT))
    assert grade_class(again) == ["hal"]
    assert "hand it in again" not in (again / "feedback" / "hal" / NAME / "index.html").read_text()


def test_in_an_unreadable_folder_the_previous_scores_are_kept(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that the grader may not read is no submission without notebooks."""
    stat = os.stat

    def closed(path: Any, *, dir_fd: int | None = None, **options: Any) -> os.stat_result:
        if path == "ann" and dir_fd is not None:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return stat(path, dir_fd=dir_fd, **options)

    monkeypatch.setattr(os, "stat", closed)
    outcomes = grade_all(again, force=True)
    assert "Permission denied" in outcomes["ann"].errors[0] and points(again) == SCORES
    assert not any(outcome.errors for student, outcome in outcomes.items() if student != "ann")


def test_a_student_who_could_not_be_confined_has_no_completion_marker(again: Path) -> None:
    """A limit that the kernel refuses costs no points: the previous scores are kept, and the next run tries again."""
    configure(again, "c.Limits.file_mb = 2**50")
    outcomes = grade_all(again)
    assert outcomes.keys() == SCORES.keys()
    assert all("could not be graded" in outcome.errors[0] for outcome in outcomes.values())
    assert points(again) == SCORES
    shutil.copy(REPOSITORY / "nbgrader_config.py", again)
    assert grade_class(again, force=True) == sorted(SCORES)


def test_a_gradebook_that_cannot_be_written_ends_the_run(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one line, because it concerns all students. Those who are done stay done, and the next run does the rest."""
    monkeypatch.setattr(class_run, "MAX_TOGETHER", 1)
    configure(again, "c.CourseDirectory.db_url = f'sqlite:///{c.CourseDirectory.root}/gradebook.db?timeout=0.1'")
    outcomes = ClassRun(CourseDir(again), NAME, jobs=1, force=True).outcomes()
    done = next(outcomes).student
    with closing(sqlite3.connect(again / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(GraderError, match="the gradebook cannot .* locked"):
            next(outcomes)
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    (again / "autograded" / "eve" / NAME / ".graded.json").unlink()
    assert done != "eve" and grade_class(again) == ["eve", "ivy"]


class Immediate:
    """Grades each submission when it is handed over, so that all are done at once."""

    at_once, make_pages, batch_wait, threads = 64, False, 0.0, None

    def begin(self, assignment: Assignment, notebooks: object) -> None:
        pass

    def submit(self, assignment: Assignment, submission: Submission, previous: object) -> Future[StudentResult]:
        done: Future[StudentResult] = Future()
        done.set_result(grade_submission(assignment, submission))
        return done

    def close(self) -> None:
        pass


def test_results_that_are_ready_together_come_in_order_and_fail_alone(again: Path) -> None:
    """However slow the writer is, students come in the order of their names, and all of them are written.

    The scores of several are one transaction: of one who cannot be written, it is no error of the others.
    """
    blocked = again / "autograded" / "cat" / NAME / ".small.ipynb.new"
    blocked.mkdir()
    outcomes = list(ClassRun(CourseDir(again), NAME, force=True).outcomes(Immediate()))
    assert [outcome.student for outcome in outcomes] == sorted(SCORES)
    [cat] = [outcome for outcome in outcomes if outcome.errors]
    assert cat.student == "cat" and "could not be graded (IsADirectoryError" in cat.errors[0]
    blocked.rmdir()
    assert points(again) == SCORES and grade_class(again) == []


def test_a_full_disk_ends_the_run(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one line; once there is space, the next run does the rest."""
    hand_in(again, "ann", released(again))
    with monkeypatch.context() as full:
        full.setattr(files, "_opened", lambda path, mode: os.open("/dev/full", os.O_WRONLY))
        with pytest.raises(GraderError, match="No space left"):
            grade_all(again)
    assert grade_class(again) == ["ann"]


def test_a_link_in_the_place_of_a_new_file_is_not_followed(again: Path) -> None:
    """What it leads to stays as it is, and the student is named."""
    (again / "secret.txt").write_text("secret")
    link = again / "autograded" / "ann" / NAME / ".small.ipynb.new"
    link.symlink_to(again / "secret.txt")
    hand_in(again, "ann", released(again))
    (errors,) = [outcome.errors for outcome in ClassRun(CourseDir(again), NAME).outcomes() if outcome.errors]
    assert "could not be graded" in errors[0] and (again / "secret.txt").read_text() == "secret"
    link.unlink()
    assert grade_class(again) == ["ann"]
