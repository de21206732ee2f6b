"""A class: the same scores however it is graded, nothing graded twice, and one student's trouble is one student's."""

import copy
import json
import multiprocessing
import os
import shutil
import sqlite3
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import closing

import pytest
import small_class
from notebooks import answered
from small_class import NAME, RIGHT, SCORES, hand_in, ledger, make_class, make_course, points, released

from course.classroom import Classroom
from course.errors import CourseError
from course.grading.class_run import ClassRun


def grade_class(folder, **options):
    """Grades the class; returns who was graded anew."""
    outcomes = list(ClassRun(Classroom(folder), NAME, **options).outcomes())
    assert not any("could not be graded" in trouble for outcome in outcomes for trouble in outcome.troubles)
    return sorted(outcome.student for outcome in outcomes if outcome.reports)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class that was graded four at a time."""
    folder = make_class(tmp_path_factory.mktemp("graded") / "course")
    assert grade_class(folder, jobs=4) == sorted(SCORES)
    return folder


@pytest.fixture
def again(graded, tmp_path):
    """A copy of the graded class to change."""
    return shutil.copytree(graded, tmp_path / "course")


def test_everyone_has_the_score_they_earned(graded):
    """And the folder of each holds a notebook, a page and nothing of the grader's in between."""
    assert points(graded) == SCORES
    for student in SCORES:
        names = {path.name for path in (graded / "autograded" / student / NAME).iterdir()}
        assert names == {"small.ipynb", ".graded.json"}
        assert [path.name for path in (graded / "feedback" / student / NAME).iterdir()] == ["small.html"]


@pytest.mark.parametrize("jobs", [1, 8])
def test_however_many_at_a_time_the_gradebook_is_the_same(graded, tmp_path, jobs):
    """To the last mark and comment."""
    folder = make_class(tmp_path / "course")
    grade_class(folder, jobs=jobs)
    assert ledger(folder) == ledger(graded)


def test_nobody_is_late_because_others_are_graded(tmp_path):
    """Eight who compute for a second each, all at a time as far as the caller knows, take no time from one another."""
    folder = make_course(tmp_path / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Limits.cell_seconds = 4\n")
    computes = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass\n" + RIGHT["one"]
    students = [f"student{number}" for number in range(8)]
    for student in students:
        hand_in(folder, student, answered(released(folder), **RIGHT | {"one": computes}))
    grade_class(folder, jobs=8)
    assert points(folder) == dict.fromkeys(students, 8)


def test_any_executor_grades(graded, tmp_path):
    """Threads, processes, a cluster: what a student's grading takes and what it gives can be sent elsewhere."""
    folder = make_class(tmp_path / "course")
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        assert not any(outcome.troubles for outcome in ClassRun(Classroom(folder), NAME).outcomes(executor))
    assert ledger(folder) == ledger(graded)


def test_a_class_of_one_gives_the_same_marks(graded, tmp_path):
    """Nobody's score depends on who else is in the class."""
    folder = make_class(tmp_path / "course")
    for student in set(SCORES) - {"bob"}:
        shutil.rmtree(folder / "submitted" / student)
    grade_class(folder)
    assert ledger(folder) == {"bob": ledger(graded)["bob"]}


def test_a_blank_written_answer_scores_zero_and_says_so(graded):
    """One with words waits for a person; one as it was released needs nobody."""
    entries = ledger(graded)
    assert entries["bob"]["grades"]["why"] == (0.0, None, False)
    assert entries["bob"]["comments"]["why"] == ("No response.", None)
    assert entries["ann"]["grades"]["why"] == (None, None, True)
    assert entries["ann"]["comments"]["why"] == (None, None)
    assert entries["eve"]["comments"] == dict.fromkeys(("one", "two", "why"), ("No response.", None))


def test_a_second_run_grades_nobody(again):
    """All is done, and nothing is written anew."""
    before = {path: path.stat().st_mtime_ns for path in (again / "autograded").rglob("*.ipynb")}
    assert grade_class(again) == []
    assert {path: path.stat().st_mtime_ns for path in (again / "autograded").rglob("*.ipynb")} == before


def test_only_what_changed_is_graded_again(again):
    """A new submission, a new student, a new time of handing in: each costs one student's grading."""
    hand_in(again, "bob", answered(released(again), **RIGHT))
    assert grade_class(again) == ["bob"] and points(again) == SCORES | {"bob": 8}
    hand_in(again, "flo", answered(released(again), **RIGHT))
    assert grade_class(again) == ["flo"] and points(again)["flo"] == 8
    (again / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-01 12:00:00 UTC")
    assert grade_class(again) == ["ann"]
    assert grade_class(again) == []


def test_a_new_due_date_counts_for_all(again):
    """Penalties depend on it, so everyone is looked at again."""
    with Classroom(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    assert grade_class(again) == sorted(SCORES) and grade_class(again) == []


def test_a_changed_source_or_force_grades_all_again(again):
    """A new test counts for everyone; --force grades what did not change."""
    assert grade_class(again, force=True) == sorted(SCORES) and points(again) == SCORES
    stricter = copy.deepcopy(small_class.SOURCE)
    stricter.cells[3].metadata.nbgrader.points = 10
    small_class.nbformat.write(stricter, again / "source" / NAME / "small.ipynb")
    assert grade_class(again) == sorted(SCORES)
    assert points(again)["ann"] == 17 and points(again)["dan"] == 5


def test_a_page_that_is_gone_and_a_damaged_mark_are_made_again(again):
    """Done is who has all that a run writes, and a mark that can be read."""
    (again / "feedback" / "bob" / NAME / "small.html").unlink()
    (again / "autograded" / "cat" / NAME / ".graded.json").write_text("{")
    # As a grader left it that did not yet say which notebooks it wrote.
    earlier = json.dumps({"digest": "of another grader", "troubles": [], "remarks": []})
    (again / "autograded" / "dan" / NAME / ".graded.json").write_text(earlier)
    assert grade_class(again) == ["bob", "cat", "dan"]
    assert (again / "feedback" / "bob" / NAME / "small.html").exists() and points(again) == SCORES


def test_a_hand_in_that_cannot_be_read_is_one_students_trouble(again):
    """A time that is none is left aside; a pipe, a link to our solution: nobody waits for it, nobody gains by it."""
    (again / "submitted" / "bob" / NAME / "timestamp.txt").write_text("yesterday")
    for student, make in (
        ("cat", os.mkfifo),
        ("dan", lambda path: path.symlink_to(again / "source" / NAME / path.name)),
    ):
        path = again / "submitted" / student / NAME / "small.ipynb"
        path.unlink()
        make(path)
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    assert "holds no time" in outcomes["bob"].remarks[0] and outcomes["bob"].reports
    assert "is no file" in outcomes["cat"].troubles[0] and "cannot be read" in outcomes["dan"].troubles[0]
    assert points(again) == SCORES | {"cat": 0, "dan": 0}


def test_lost_records_are_made_again(again):
    """Whose gradebook entry or notebook is gone is graded again, and no one else."""
    shutil.rmtree(again / "autograded" / "cat")
    assert grade_class(again) == ["cat"]
    with Classroom(again).gradebook() as gradebook:
        gradebook.remove_student("dan")
    assert grade_class(again) == ["dan"] and points(again) == SCORES


def test_a_persons_marks_survive_grading_again(again):
    """Manual score, extra credit and comment stay, and the answer is looked at again."""
    with Classroom(again).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", NAME, "ann")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.25, False
        gradebook.find_comment("why", "small", NAME, "ann").manual_comment = "Well put."
        gradebook.db.commit()
    grade_class(again, force=True)
    entry = ledger(again)["ann"]
    assert entry["score"] == 9.75 and entry["grades"]["why"] == (None, 1.5, True)
    assert entry["comments"]["why"] == (None, "Well put.")
    assert "Well put." in (again / "feedback" / "ann" / NAME / "small.html").read_text()


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
    (place / ".ipynb_checkpoints").mkdir()
    (again / "submitted" / "bob" / NAME / "mine\x1b[2J.ipynb").write_text("{}")
    outcomes = {outcome.student: outcome for outcome in ClassRun(Classroom(again), NAME).outcomes()}
    three = ", ".join(f"'small ({number}).ipynb'" for number in range(3))
    assert outcomes["gus"].remarks == [f"small.ipynb was not handed in, but {three} …: rename the right one"]
    assert outcomes["bob"].remarks == []
    (again / "submitted" / "bob" / NAME / "small.ipynb").unlink()
    (remark,) = next(found for found in ClassRun(Classroom(again), NAME).outcomes() if found.student == "bob").remarks
    assert "but 'mine\\x1b[2J.ipynb':" in remark
    (place / "small (3).ipynb").rename(place / "small.ipynb")
    hand_in(again, "gus", answered(released(again), **RIGHT))
    assert grade_class(again) == ["gus"] and points(again)["gus"] == 8


def test_a_good_notebook_that_became_unreadable_scores_zero(again):
    """What was graded before is not shown as if it still counted."""
    hand_in(again, "ann", b"")
    list(ClassRun(Classroom(again), NAME).outcomes())
    assert points(again)["ann"] == 0
    assert not (again / "autograded" / "ann" / NAME / "small.ipynb").exists()
    assert not (again / "feedback" / "ann" / NAME / "small.html").exists()


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


def test_the_same_scores_alone_and_in_a_class_of_two_hundred(tmp_path):
    """Whoever else hands in, and however many: every grade, mark and comment is that of a student graded alone."""
    crowd, alone = make_class(tmp_path / "crowd"), make_course(tmp_path / "alone")
    for student in SCORES:
        shutil.copytree(crowd / "submitted" / student, alone / "submitted" / student)
        assert grade_class(alone) == [student]
    for number in range(39):
        for student in SCORES:
            shutil.copytree(crowd / "submitted" / student, crowd / "submitted" / f"{student}{number}")
    assert len(grade_class(crowd, jobs=2)) == 200
    expected, found = ledger(alone), ledger(crowd)
    assert {name: entry for name, entry in found.items() if entry != expected[name.rstrip("0123456789")]} == {}
