"""Inside nbgrader the grader gives the scores of `grader grade`, to the last digit."""

import copy
import json
import shutil
from pathlib import Path

import nbformat
import pytest

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page.result_files import read_basis
from grader.classroom.source.student_zero import STAMP
from tests.support.notebooks import answered, cell
from tests.support.small_class import (
    HALF,
    NAME,
    RIGHT,
    SCORES,
    SOURCE,
    configure,
    hand_in,
    ledger,
    make_class,
    points,
    released,
    run,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with a due date that ann met and bob missed, and a penalty of half the points."""
    folder = make_class(tmp_path_factory.mktemp("plugin") / "course")
    configure(folder, HALF)
    for student, day in (("ann", 1), ("bob", 3)):
        (folder / "submitted" / student / NAME / "timestamp.txt").write_text(f"2030-01-0{day} 12:00:00 UTC")
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    return folder


@pytest.fixture(scope="module")
def generated(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class after `nbgrader generate_assignment`; tests do not change it."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("generated") / "course")
    assert run(folder, "nbgrader", "generate_assignment", NAME, "--force").returncode == 0
    return folder


@pytest.fixture
def ungraded(generated: Path, tmp_path: Path) -> Path:
    """A copy of `generated` without its submissions."""
    folder = shutil.copytree(generated, tmp_path / "course")
    shutil.rmtree(folder / "submitted")
    return folder


def test_both_ways_leave_the_same(course: Path, generated: Path, tmp_path: Path) -> None:
    """The same gradebook, notebooks, fingerprints and pages; a page shows the sentence of a hidden test, not its code.

    bob was a day late and pays the penalty of the course; ann was in time, and the others have no timestamp.
    """
    class_run = shutil.copytree(course, tmp_path / "class_run")
    assert len(list(ClassRun(CourseDir(class_run), NAME).outcomes())) == len(SCORES)
    stock = shutil.copytree(generated, tmp_path / "stock")
    done = run(stock, "nbgrader", "autograde", NAME)
    assert done.returncode == 0, done.stderr
    entries = ledger(class_run)
    assert ledger(stock) == entries and {student: entry["score"] for student, entry in entries.items()} == SCORES
    assert {student: entry["penalties"] for student, entry in entries.items()} == {
        student: [SCORES["bob"] / 2 if student == "bob" else None] for student in SCORES
    }
    done = run(stock, "nbgrader", "generate_feedback", NAME)
    assert done.returncode == 0, done.stderr
    # Every setting is known to the preprocessor that it is for; nbgrader logs the penalty of a late student itself.
    [warning] = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert "Late submission penalty: " in warning
    for student in SCORES:
        there = [folder / "autograded" / student / NAME for folder in (class_run, stock)]
        ours, theirs = (read_basis(path, "small") for path in there)
        assert ours == theirs is not None
        ours, theirs = (nbformat.read(path / "small.ipynb", as_version=4).cells for path in there)
        assert [(c.cell_type, c.source, c.get("outputs")) for c in ours] == (
            [(c.cell_type, c.source, c.get("outputs")) for c in theirs]
        )
        for name in ("small.html", "index.html"):
            ours, theirs = ((folder / "feedback" / student / NAME / name).read_text() for folder in (class_run, stock))
            assert ours == theirs
    page = (class_run / "feedback" / "eve" / NAME / "small.html").read_text()
    assert "one(x) is x." in page and "BEGIN HIDDEN" not in page and "one(3)" not in page


def test_a_notebook_that_could_not_be_graded_gives_no_points_either_way(ungraded: Path) -> None:
    """nbgrader gives full points to a test without output, so a notebook that was given up must have outputs."""
    source = copy.deepcopy(SOURCE)
    cell(source, "two-check").source = "import os\nos._exit(1)"
    nbformat.write(source, ungraded / "source" / NAME / "small.ipynb")
    hand_in(ungraded, "ann", answered(released(ungraded), **RIGHT))
    configure(ungraded, "c.Grader.allow_broken_tests = True")
    done = run(ungraded, "nbgrader", "autograde", NAME)
    assert done.returncode == 0 and "grading did not finish" in done.stderr
    assert ledger(ungraded)["ann"]["score"] == 0
    [outcome] = ClassRun(CourseDir(ungraded), NAME, force=True).outcomes()
    assert "did not finish" in outcome.errors[0] and ledger(ungraded)["ann"]["score"] == 0
    assert "Grading did not finish." in next((ungraded / "feedback" / "ann").rglob("small.html")).read_text()


LINKS = {
    "linked": ("", "ann"),
    "assignment": (NAME, f"../ann/{NAME}"),
    "notebook": (f"{NAME}/small.ipynb", f"../../ann/{NAME}/small.ipynb"),
    "times": (f"{NAME}/timestamp.txt", "../../../secret.txt"),
}
"""Students whose submission is reached through a link or holds one: where the link is, and where it leads."""


def test_nbgrader_copies_and_grades_nothing_strange(ungraded: Path) -> None:
    """No link and no foreign file gets into autograded/ or feedback/, and the log names what was left out or refused.

    A submission reached through a link, or with a link in the place of one of its own files, is refused, and a file
    that is no notebook is named; the others are graded, and invalid metadata costs neither points nor time.
    """
    for student, (place, target) in LINKS.items():
        hand_in(ungraded, student, answered(released(ungraded), **RIGHT))
        path = ungraded / "submitted" / student / place
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.symlink_to(target)
    # As after a click on the button of one student in the formgrader: it fails if every submission is refused.
    done = run(ungraded, "nbgrader", "autograde", NAME, "--student=notebook")
    assert done.returncode != 0 and "no link is followed" in done.stderr
    (ungraded / "secret.txt").write_text("2030-01-01 12:00:00 UTC")
    odd = answered(released(ungraded), **RIGHT)
    odd.cells[0].metadata["tags"] = [{"a": number} for number in range(20_000)]
    submitted = hand_in(ungraded, "ann", json.dumps(odd).encode())
    hand_in(ungraded, "bob", b"{")
    (submitted / "page.html").write_text("<script>attack()</script>")
    (submitted / ".small.results.json").write_text("forged")
    (submitted / "link.txt").symlink_to(ungraded / "secret.txt")
    (submitted / "folder").symlink_to(ungraded / "source")
    (submitted / "data").mkdir()
    (submitted / "data" / "link.txt").symlink_to(ungraded / "secret.txt")
    done = run(ungraded, "nbgrader", "autograde", NAME)
    assert done.returncode != 0 and "small.ipynb is not JSON" in done.stderr
    assert points(ungraded)["ann"] == SCORES["ann"] and points(ungraded).keys() <= {"ann", "bob"}
    assert "left out, because the assignment has none: 'data', 'folder', 'link.txt', 'page.html'" in done.stderr
    for student in LINKS:
        [line] = [line for line in done.stderr.splitlines() if f"submitted/{student}/" in line]
        assert "was not graded" in line and "no link is followed" in line
        assert not (ungraded / "autograded" / student).exists()
    assert run(ungraded, "nbgrader", "generate_feedback", NAME).returncode == 0
    for step in ("autograded", "feedback"):
        names = {path.name for path in (ungraded / step).rglob("*") if path.is_file()}
        # The record of what grading found, and the stamp of our own solution, stay where no student sees them.
        record = {".small.results.json", STAMP} if step == "autograded" else set[str]()
        assert names - {"small.ipynb", "small.html", "index.html"} == record
    assert "forged" not in (ungraded / "autograded" / "ann" / NAME / ".small.results.json").read_text()
