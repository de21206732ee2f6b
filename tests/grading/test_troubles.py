"""What goes wrong in a class run: one student's trouble is one student's, and everybody's ends the run in words."""

import errno
import os
import re
import shutil
import sqlite3
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path

import pytest
import small_class
from notebooks import answered
from small_class import NAME, RIGHT, SCORES, grade_class, hand_in, points, released, run

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.check import check
from course.grading.class_run import ClassRun
from course.release import release


def test_a_hand_in_that_cannot_be_read_is_one_students_trouble(again):
    """A time that is none, or longer than one, is left aside; a pipe, a link to our solution: nobody waits or gains."""
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
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    for student in "bob", "ann", "eve":
        assert "holds no time" in outcomes[student].remarks[0] and outcomes[student].reports
    assert "is no file" in outcomes["cat"].troubles[0] and "cannot be read" in outcomes["dan"].troubles[0]
    assert points(again) == SCORES | {"cat": 0, "dan": 0}


def test_what_cannot_be_read_is_one_students_trouble(again):
    """A missing notebook and one that is none score zero, with a line each; the others are graded."""
    hand_in(again, "gus", None)
    hand_in(again, "hal", b"{not json")
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    assert outcomes["gus"].remarks == ["small.ipynb was not handed in"] and not outcomes["gus"].troubles
    assert "small.ipynb is not JSON" in outcomes["hal"].troubles[0]
    assert points(again) == SCORES | {"gus": 0, "hal": 0, "ivy": 8}
    repeated = {outcome.student: outcome.troubles for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    assert repeated == {student: outcome.troubles for student, outcome in outcomes.items()}


def test_a_notebook_of_another_name_is_pointed_at(again):
    """Where the right one is missing; one beside it is the student's own affair, and a checkpoint is no notebook."""
    place = hand_in(again, "gus", None)
    for number in range(5):
        (place / f"small ({number}).ipynb").write_text("{}")
    for made_by_a_program in (".ipynb_checkpoints/small-checkpoint.ipynb", "__MACOSX/small.ipynb"):
        (place / made_by_a_program).parent.mkdir()
        (place / made_by_a_program).write_text("{}")
    (again / "submitted" / "bob" / NAME / "mine\x1b[2J.ipynb").write_text("{}")
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    three = ", ".join(f"'small ({number}).ipynb'" for number in range(3))
    assert outcomes["gus"].remarks == [
        f"small.ipynb was not handed in, but {three} …: give the right one its name and place"
    ]
    assert outcomes["bob"].remarks == []
    (again / "submitted" / "bob" / NAME / "small.ipynb").unlink()
    (remark,) = next(found for found in ClassRun(Classroom(again), NAME).outcomes() if found.student == "bob").remarks
    assert "but 'mine\\x1b[2J.ipynb':" in remark
    (place / "small (3).ipynb").rename(place / "small.ipynb")
    hand_in(again, "gus", answered(released(again), **RIGHT))
    assert grade_class(again) == ["gus"] and points(again)["gus"] == 8


def test_a_notebook_one_folder_too_deep_is_pointed_at(again):
    """As who packs a folder hands it in, and with capital letters, as some programs write names."""
    place = hand_in(again, "hal", None)
    (place / NAME).mkdir()
    for name in (f"{NAME}/small.ipynb", "small.IPYNB"):
        (place / name).write_text("{}")
    (remark,) = next(found for found in ClassRun(Classroom(again), NAME).outcomes() if found.student == "hal").remarks
    assert f"but '{NAME}/small.ipynb', 'small.IPYNB': give" in remark


def test_a_good_notebook_that_became_unreadable_scores_zero(again):
    """What was graded before is not shown as if it still counted."""
    hand_in(again, "ann", b"")
    list(ClassRun(Classroom(again), NAME).outcomes())
    assert points(again)["ann"] == 0
    assert not (again / "autograded" / "ann" / NAME / "small.ipynb").exists()
    assert not (again / "feedback" / "ann" / NAME / "small.html").exists()


def test_where_nobody_may_look_the_old_scores_stay(again, monkeypatch):
    """A folder of a submission that is closed to the grader is no notebook that was not handed in."""
    lstat = Path.lstat

    def closed(path):
        if "ann" in path.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", closed)
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME, force=True).outcomes()}
    assert "Permission denied" in outcomes["ann"].troubles[0] and points(again) == SCORES
    assert not any(outcome.troubles for student, outcome in outcomes.items() if student != "ann")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda text: "{", "source/01-small/small.ipynb is not JSON"),
        (lambda text: text.replace("assert one(3) ==", "assert one((3) =="), "one-test-more is no Python (line"),
        (lambda text: text.replace("import torch", "import"), "imports is no Python (line 1"),
    ],
)
def test_a_broken_source_is_told_before_anybody_is_graded(again, broken, words):
    """To who releases, grades, checks and autogrades, by the name of the cell; nobody's score changes."""
    path = again / "source" / NAME / "small.ipynb"
    path.write_text(broken(path.read_text()))
    for act in (
        lambda: list(ClassRun(Classroom(again), NAME, force=True).outcomes()),
        lambda: release(Classroom(again), NAME),
        lambda: check(Classroom(again), again / "submitted" / "ann" / NAME / "small.ipynb"),
    ):
        with pytest.raises(CourseError, match=re.escape(words)):
            act()
    done = run(again, "nbgrader", "autograde", NAME, "--force", "--student=ann")
    assert done.returncode != 0 and words in done.stderr
    assert points(again) == SCORES


def test_who_could_not_be_confined_has_no_mark(again):
    """A kernel that refuses a limit is nobody's zero: the old scores stay, and the next run tries again."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("c.Limits.file_mb = 2**50\n")
    outcomes = list(ClassRun(Classroom(again), NAME).outcomes())
    assert all("could not be graded" in outcome.troubles[0] for outcome in outcomes) and points(again) == SCORES
    shutil.copy(small_class.REPOSITORY / "nbgrader_config.py", again)
    assert grade_class(again, force=True) == sorted(SCORES)


def test_a_gradebook_that_cannot_be_written_ends_the_run(again):
    """It is everybody's trouble, and an error in words. Who is done is done, and the next run does the rest."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("c.CourseDirectory.db_url = f'sqlite:///{c.CourseDirectory.root}/gradebook.db?timeout=0.1'\n")
    outcomes = ClassRun(Classroom(again), NAME, jobs=1, force=True).outcomes()
    done = next(outcomes).student
    with closing(sqlite3.connect(again / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CourseError, match="the gradebook cannot .* locked"):
            next(outcomes)
    hand_in(again, "ivy", answered(released(again), **RIGHT))
    (again / "autograded" / "eve" / NAME / ".graded.json").unlink()
    assert done != "eve" and grade_class(again) == ["eve", "ivy"]


class AtOnce(Executor):
    """Has done what it is given before anybody asks."""

    def submit(self, act, *arguments):
        done = Future()
        done.set_result(act(*arguments))
        return done


def test_who_ended_together_comes_in_order(again):
    """However slow the writer is, the class is gone through in the order of its names."""
    outcomes = list(ClassRun(Classroom(again), NAME, force=True).outcomes(AtOnce()))
    assert [graded.student for graded in outcomes] == sorted(graded.student for graded in outcomes)


def test_a_full_disk_ends_the_run(again):
    """In words; once there is room, the next run does the rest."""
    full = again / "autograded" / "ann" / NAME / ".small.ipynb.new"
    full.symlink_to("/dev/full")
    hand_in(again, "ann", released(again))
    with pytest.raises(CourseError, match="No space left"):
        list(ClassRun(Classroom(again), NAME).outcomes())
    full.unlink()
    assert grade_class(again) == ["ann"]


def test_text_that_no_file_takes_stops_nobody(again):
    """Half a surrogate pair in a cell, printed or raised, is that student's, and is graded."""
    odd = answered(released(again), **RIGHT | {"two": "print('\\ud800')\ndef two():\n    return 2  # \ud800"})
    raw = small_class.nbformat.writes(odd).encode("utf-8", "surrogatepass").replace(b"\xed\xa0\x80", b"\\ud800")
    hand_in(again, "jan", raw)
    assert "jan" in grade_class(again) and points(again)["jan"] == 8


def test_where_nothing_can_be_graded_the_reason_is_told(again, tmp_path):
    """An unknown assignment, a class that handed in nothing, a folder that is no course."""
    with pytest.raises(CourseError, match="no assignment 'x' in source/; there is 01-small"):
        list(ClassRun(Classroom(again), "x").outcomes())
    shutil.rmtree(again / "submitted")
    with pytest.raises(CourseError, match="no submissions of '01-small'"):
        list(ClassRun(Classroom(again), NAME).outcomes())
    with pytest.raises(CourseError, match="change to your course folder"):
        Classroom(tmp_path)
