"""The grader inside nbgrader: its own commands give the scores of `python -m course grade`, to the last digit."""

import copy
import csv
import json
import shutil

import nbformat
import pytest
from notebooks import answered, cell
from small_class import NAME, RIGHT, SCORES, SOURCE, hand_in, ledger, make_class, make_course, released, run

from course.classroom import Classroom
from course.grading.class_run import ClassRun

LATE = """
from nbgrader.plugins import LateSubmissionPlugin

class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2

c.AssignLatePenalties.plugin_class = Half
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class with a due date that ann met and bob did not, and a penalty of half the points."""
    folder = make_class(tmp_path_factory.mktemp("plugin") / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(LATE)
    for student, day in (("ann", 1), ("bob", 3)):
        (folder / "submitted" / student / NAME / "timestamp.txt").write_text(f"2030-01-0{day} 12:00:00 UTC")
    with Classroom(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    return folder


@pytest.fixture(scope="module")
def ours(course, tmp_path_factory):
    """Graded by `python -m course grade`."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("ours") / "course")
    assert len(list(ClassRun(Classroom(folder), NAME).outcomes())) == len(SCORES)
    return folder


@pytest.fixture(scope="module")
def stock(course, tmp_path_factory):
    """Graded by `nbgrader autograde`."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("stock") / "course")
    assert run(folder, "nbgrader", "generate_assignment", NAME, "--force").returncode == 0
    done = run(folder, "nbgrader", "autograde", NAME)
    assert done.returncode == 0, done.stderr
    return folder


def test_both_ways_give_the_same_gradebook(ours, stock):
    """Scores, marks, comments, penalties, and what waits for a person."""
    assert ledger(stock) == ledger(ours)


def test_a_late_submission_pays_the_courses_penalty(ours):
    """bob was a day late; ann was not, and for the others nobody knows."""
    entries = ledger(ours)
    assert entries["bob"]["penalties"] == [SCORES["bob"] / 2] and entries["bob"]["score"] == SCORES["bob"]
    assert all(entries[student]["penalties"] == [None] for student in SCORES if student != "bob")


def test_both_ways_write_the_same_notebooks(ours, stock):
    """What the formgrader shows does not depend on who graded; neither does where it lies."""
    for student in SCORES:
        pair = [folder / "autograded" / student / NAME / "small.ipynb" for folder in (ours, stock)]
        first, second = (nbformat.read(path, as_version=4) for path in pair)
        assert [(c.cell_type, c.source, c.get("outputs")) for c in first.cells] == (
            [(c.cell_type, c.source, c.get("outputs")) for c in second.cells]
        )


def test_each_can_go_on_where_the_other_stopped(stock, tmp_path):
    """A person's marks survive a regrading by the other."""
    folder = shutil.copytree(stock, tmp_path / "course")
    with Classroom(folder).gradebook() as gradebook:
        gradebook.find_grade("why", "small", NAME, "ann").manual_score = 1.5
        gradebook.db.commit()
    list(ClassRun(Classroom(folder), NAME).outcomes())
    assert ledger(folder)["ann"]["score"] == SCORES["ann"] + 1.5
    first = ledger(folder)
    assert run(folder, "nbgrader", "autograde", NAME, "--force", "--student=ann").returncode == 0
    assert ledger(folder) == first


def test_export_tells_the_scores(ours, tmp_path):
    """`nbgrader export` writes what we wrote, penalty taken off."""
    done = run(ours, "nbgrader", "export", f"--to={tmp_path / 'grades.csv'}")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "grades.csv").open() as table:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(table)}
    assert rows == SCORES | {"bob": SCORES["bob"] / 2}


def test_feedback_of_both_is_the_same_and_shows_no_hidden_test(ours, stock):
    """`nbgrader generate_feedback` and ours tell the sentence of the test and its message, not its code."""
    done = run(stock, "nbgrader", "generate_feedback", NAME, "--student=eve")
    assert done.returncode == 0, done.stderr
    page, theirs = ((folder / "feedback" / "eve" / NAME / "small.html").read_text() for folder in (ours, stock))
    assert "one(x) is x." in page and "BEGIN HIDDEN" not in page and "one(3)" not in page
    assert theirs == page


def test_nbgraders_own_feedback_warns_of_nothing(stock):
    """No setting of ours is one that a preprocessor of ours does not know."""
    done = run(stock, "nbgrader", "generate_feedback", NAME, "--student=ann")
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr


def test_points_that_changed_since_the_assignment_was_generated_count(stock, tmp_path):
    """A test that gives 10 points is out of 10, and a blank answer is one still; the log says what happened."""
    folder = shutil.copytree(stock, tmp_path / "course")
    richer = copy.deepcopy(SOURCE)
    for name in ("one-test-more", "why"):
        cell(richer, name).metadata.nbgrader.points = 10
    nbformat.write(richer, folder / "source" / NAME / "small.ipynb")
    done = run(folder, "nbgrader", "autograde", NAME, "--force", "--student=bob")
    assert done.returncode == 0 and "points of one-test-more and why changed" in done.stderr, done.stderr
    with Classroom(folder).gradebook() as gradebook:
        cells = gradebook.find_notebook("small", NAME).grade_cells
        assert {cell.name: cell.max_score for cell in cells}["one-test-more"] == 10
    assert ledger(folder)["bob"]["score"] == SCORES["bob"] + 8
    assert ledger(folder)["bob"]["comments"]["why"] == ("No response.", None)
    assert "points of" not in run(folder, "nbgrader", "autograde", NAME, "--force", "--student=bob").stderr


def test_a_test_that_came_after_grading_is_refused(stock, tmp_path):
    """In words that name it, and nothing that is in the gradebook changes."""
    folder = shutil.copytree(stock, tmp_path / "course")
    source = copy.deepcopy(SOURCE)
    cell(source, "one-check").metadata.nbgrader.grade_id = "one-check-new"
    nbformat.write(source, folder / "source" / NAME / "small.ipynb")
    done = run(folder, "nbgrader", "autograde", NAME, "--force", "--student=bob")
    assert done.returncode != 0 and "one-check-new was added, one-check was removed" in done.stderr
    assert ledger(folder) == ledger(stock)


def test_a_submission_is_read_as_in_a_class_run(tmp_path):
    """What a notebook must not hold costs no points and holds nobody up; what cannot be read is named."""
    folder = make_course(tmp_path / "course")
    odd = answered(released(folder), **RIGHT)
    odd.cells[0].metadata["tags"] = [{"a": number} for number in range(20_000)]
    hand_in(folder, "ann", json.dumps(odd).encode())
    hand_in(folder, "bob", b"{")
    assert run(folder, "nbgrader", "generate_assignment", NAME, "--force").returncode == 0
    done = run(folder, "nbgrader", "autograde", NAME)
    assert done.returncode != 0 and "small.ipynb is not JSON" in done.stderr
    assert ledger(folder)["ann"]["score"] == SCORES["ann"]


def test_what_could_not_be_graded_gives_no_points_either_way(tmp_path):
    """Where the grader itself does not get through a notebook, nbgrader must not find its tests without a word."""
    folder = make_course(tmp_path / "course")
    source = copy.deepcopy(SOURCE)
    cell(source, "two-check").source = "import os\nos._exit(1)"
    nbformat.write(source, folder / "source" / NAME / "small.ipynb")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    assert run(folder, "nbgrader", "generate_assignment", NAME, "--force").returncode == 0
    done = run(folder, "nbgrader", "autograde", NAME)
    assert done.returncode == 0 and "grading did not come to an end" in done.stderr
    assert ledger(folder)["ann"]["score"] == 0
    [outcome] = ClassRun(Classroom(folder), NAME, force=True).outcomes()
    assert "did not come to an end" in outcome.troubles[0] and ledger(folder)["ann"]["score"] == 0
    assert "Grading did not come to an end." in next((folder / "feedback" / "ann").rglob("*.html")).read_text()
