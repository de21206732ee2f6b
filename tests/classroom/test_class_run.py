"""A class gets the same scores however it is graded, and no student is graded twice."""

import json
import shutil
from pathlib import Path

import pytest

from grader.classroom.course_dir import CourseDir
from tests.support.notebooks import answered
from tests.support.small_class import (
    NAME,
    RIGHT,
    SCORES,
    configure,
    grade_class,
    hand_in,
    ledger,
    make_class,
    make_course,
    points,
    released,
)


def test_every_student_has_the_score_that_the_answers_earn(graded: Path) -> None:
    """Each student's folders hold a notebook, a marker and two pages, and no temporary file of the grader.

    A written answer with words waits for manual grading; one as released scores zero, with a comment.
    """
    entries = ledger(graded)
    assert {student: entry["score"] for student, entry in entries.items()} == SCORES
    for student, grade, comment in (("ann", (None, None, True), None), ("bob", (0.0, None, False), "No response.")):
        assert entries[student]["grades"]["why"] == grade and entries[student]["comments"]["why"] == (comment, None)
    assert entries["eve"]["comments"] == dict.fromkeys(("one", "two", "why"), ("No response.", None))
    for student in SCORES:
        names = {path.name for path in (graded / "autograded" / student / NAME).iterdir()}
        assert names == {"small.ipynb", ".small.results.json", ".graded.json"}
        pages = {path.name for path in (graded / "feedback" / student / NAME).iterdir()}
        assert pages == {"small.html", "index.html"}


@pytest.mark.slow
def test_no_student_times_out_because_others_are_graded(tmp_path: Path) -> None:
    """Eight students compute for a second each, and the caller asks for eight at a time: none costs another time."""
    folder = make_course(tmp_path / "course")
    configure(folder, "c.Limits.cell_seconds = 4")
    computes = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass\n" + RIGHT["one"]
    students = [f"student{number}" for number in range(8)]
    for student in students:
        hand_in(folder, student, answered(released(folder), **RIGHT | {"one": computes}))
    grade_class(folder, jobs=8)
    assert points(folder) == dict.fromkeys(students, 8)


@pytest.mark.slow
def test_only_what_changed_is_graded_again(again: Path) -> None:
    """A new submission, a new student and a new timestamp each cost the grading of one student, a due date of all."""
    before = {path: path.stat().st_mtime_ns for path in (again / "autograded").rglob("*.ipynb")}
    assert grade_class(again) == []
    assert {path: path.stat().st_mtime_ns for path in (again / "autograded").rglob("*.ipynb")} == before
    hand_in(again, "bob", answered(released(again), **RIGHT))
    assert grade_class(again) == ["bob"] and points(again) == SCORES | {"bob": 8}
    hand_in(again, "flo", answered(released(again), **RIGHT))
    assert grade_class(again) == ["flo"] and points(again)["flo"] == 8
    (again / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-01 12:00:00 UTC")
    assert grade_class(again) == ["ann"]
    assert grade_class(again) == []
    with CourseDir(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    assert grade_class(again) == sorted([*SCORES, "flo"]) and grade_class(again) == []


@pytest.mark.slow
def test_lost_results_have_the_student_graded_again(again: Path) -> None:
    """A student is done only with an entry in the gradebook, a readable marker and every file that it lists."""
    shutil.rmtree(again / "autograded" / "ann")
    with CourseDir(again).gradebook() as gradebook:
        gradebook.remove_student("eve")
    (again / "feedback" / "bob" / NAME / "small.html").unlink()
    (again / "autograded" / "cat" / NAME / ".graded.json").write_text("{")
    # The marker of an earlier version, which did not list its notebooks.
    earlier = json.dumps({"digest": "of another grader", "troubles": [], "remarks": []})
    (again / "autograded" / "dan" / NAME / ".graded.json").write_text(earlier)
    assert grade_class(again) == ["ann", "bob", "cat", "dan", "eve"] and grade_class(again) == []
    assert (again / "feedback" / "bob" / NAME / "small.html").exists() and points(again) == SCORES


@pytest.mark.slow
def test_a_student_scores_the_same_alone_and_in_a_class_of_two_hundred(tmp_path: Path) -> None:
    """Every grade, mark and comment is that of the student graded alone, whatever the others hand in."""
    crowd, alone = make_class(tmp_path / "crowd"), make_course(tmp_path / "alone")
    for student in SCORES:
        shutil.copytree(crowd / "submitted" / student, alone / "submitted" / student)
        assert grade_class(alone) == [student]
    for number in range(39):
        for student in SCORES:
            shutil.copytree(crowd / "submitted" / student, crowd / "submitted" / f"{student}{number}")
    assert len(grade_class(crowd, jobs=2)) == 200
    expected, entries = ledger(alone), ledger(crowd)
    assert {name: entry for name, entry in entries.items() if entry != expected[name.rstrip("0123456789")]} == {}
