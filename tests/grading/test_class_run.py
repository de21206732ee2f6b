"""A class: the same scores however it is graded, and nothing graded twice."""

import copy
import json
import multiprocessing
import shutil
from concurrent.futures import ProcessPoolExecutor

import pytest
import small_class
from notebooks import answered
from small_class import NAME, RIGHT, SCORES, grade_class, hand_in, ledger, make_class, make_course, points, released

from course.classroom import Classroom
from course.grading.class_run import ClassRun


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


def test_lost_records_are_made_again(again):
    """Whose gradebook entry or notebook is gone is graded again, and no one else."""
    shutil.rmtree(again / "autograded" / "cat")
    assert grade_class(again) == ["cat"]
    with Classroom(again).gradebook() as gradebook:
        gradebook.remove_student("dan")
    assert grade_class(again) == ["dan"] and points(again) == SCORES


def test_a_persons_marks_survive_grading_again(again):
    """Manual score, extra credit and comment stay. The answer is looked at again where it says something else."""
    with Classroom(again).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", NAME, "ann")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.25, False
        gradebook.find_comment("why", "small", NAME, "ann").manual_comment = "Well put."
        gradebook.db.commit()
    grade_class(again, force=True)
    assert ledger(again)["ann"]["grades"]["why"] == (None, 1.5, False)
    hand_in(again, "ann", answered(released(again), **RIGHT | {"why": "It need not be."}))
    for _ in range(2):
        grade_class(again, force=True)
    entry = ledger(again)["ann"]
    assert entry["score"] == 9.75 and entry["grades"]["why"] == (None, 1.5, True)
    assert entry["comments"]["why"] == (None, "Well put.")
    assert "Well put." in (again / "feedback" / "ann" / NAME / "small.html").read_text()


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
