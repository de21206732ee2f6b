"""The files beside the notebooks of an assignment, as students get them, reach every way to grade."""

import os
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.student_zero import sound
from grader.classroom.student import load_assignment
from grader.commands.check.check import check as checked
from grader.commands.prove.prover import REFERENCE, Prover
from grader.engine.limits import Limits
from grader.errors import GraderError, UnsoundSource
from tests.support.notebooks import answer, answered, check, notebook
from tests.support.small_class import NAME, grade_class, hand_in, make_course, points, run, write_files

SOURCE = notebook(
    answer("total", "def total():\n    return sum(map(int, open('data/numbers.txt').read().split()))"),
    check("total-check", "from tests import check\ncheck(total)", points=2),
)
WRONG = answered(SOURCE, total="def total():\n    return 7")
FILES = {
    "tests.py": "def check(total):\n    assert total() == sum(map(int, open('data/numbers.txt').read().split()))\n",
    "data/numbers.txt": "1 2 3",
}
SECRET = (
    *("misconceptions/total.toml", "survivors/total.toml", ".hidden", ".git/config", "__pycache__/tests.pyc"),
    *(".ipynb_checkpoints/small-checkpoint.ipynb", "autotests.yml", "other.ipynb", "data/.DS_Store"),
)


@pytest.fixture
def course(tmp_path):
    """A course whose assignment has files beside its notebook."""
    folder = make_course(tmp_path / "course")
    nbformat.write(SOURCE, folder / "source" / NAME / "small.ipynb")
    write_files(folder / "source" / NAME, FILES)
    return folder


def read(folder: Path, **limits: int) -> dict[str, str]:
    """The files of the assignment, as text."""
    course_dir = CourseDir(folder)
    found = assignment_files(course_dir.folder("source", NAME), course_dir.directory.ignore, Limits(**limits))
    return {name: content.decode() for name, content in found.contents.items()}


def test_they_are_what_students_get(course):
    """Nothing that students must not see is among them."""
    write_files(course / "source" / NAME, dict.fromkeys(SECRET, "secret"))
    (course / "source" / NAME / "other.ipynb").unlink()
    release(CourseDir(course), NAME)
    released = course / "release" / NAME
    copies = {path.relative_to(released).as_posix(): path for path in released.rglob("*") if path.is_file()}
    known = {name: path.read_text() for name, path in copies.items() if name in FILES}
    assert read(course) == FILES == known
    assert all(path.read_text() != "secret" for name, path in copies.items() if "misconceptions" in name)


def test_there_are_limits(course):
    """The error names the file, and the setting."""
    for setting, limit, words in (("files", 1, "tests.py is one more"), ("mb", 0, "data/numbers.txt does not fit")):
        with pytest.raises(GraderError, match=f"{NAME}/{words}: .* c.Limits.assignment_{setting}"):
            read(course, **{f"assignment_{setting}": limit})


def test_a_link_to_a_file_is_followed_as_in_the_release_and_what_is_no_file_is_an_error(course):
    """The instructor's folder is trusted, but a link to a folder is no file; a pipe would never end.

    Release fails at a broken link as well.
    """
    write_files(course, {"shared.txt": "9", "folder/x.txt": "1"})
    (course / "source" / NAME / "linked.txt").symlink_to(course / "shared.txt")
    (course / "source" / NAME / "linked").symlink_to(course / "folder")
    assert read(course) == {**FILES, "linked.txt": "9"}
    odd = course / "source" / NAME / "odd"
    for make in (lambda: odd.symlink_to("nothing"), lambda: os.mkfifo(odd)):
        make()
        with pytest.raises(GraderError, match=f"{NAME}/odd cannot be read"):
            read(course)
        odd.unlink()


@pytest.mark.slow
def test_a_class_is_graded_with_them(course):
    """A student's changed copies change nothing; a change in source/ has everybody graded again.

    nbgrader's command with the plug-in grades as `grader grade` does.
    """
    cheat = {"tests.py": "def check(total):\n    pass\n", "data/numbers.txt": "7"}
    for student, submission, files in (("ann", SOURCE, FILES), ("bob", WRONG, cheat), ("cat", SOURCE, {})):
        write_files(hand_in(course, student, submission), files)
    assert grade_class(course) == ["ann", "bob", "cat"]
    assert points(course) == {"ann": 2, "bob": 0, "cat": 2}
    assert grade_class(course) == []
    done = run(course, "nbgrader", "autograde", NAME, "--force")
    assert done.returncode == 0 and points(course) == {"ann": 2, "bob": 0, "cat": 2}, done.stderr
    write_files(course / "source" / NAME, {"data/numbers.txt": "3 4"})
    assert grade_class(course) == ["ann", "bob", "cat"]
    assert points(course) == {"ann": 2, "bob": 2, "cat": 2}


@pytest.mark.slow
def test_check_prove_workers_and_our_own_solution_have_them(course, tmp_path):
    """A check reads the files beside the source, not those beside the notebook; a cluster's worker gets them packed.

    Our own solution is graded again when one of them changes, and a test that fails because of it is our fault.
    """
    from grader.commands.cluster.messages import AssignmentBundle, unpacked

    write_files(tmp_path / "mine", {"tests.py": "def check(total):\n    pass\n"})
    for submission, expected in ((SOURCE, 2), (WRONG, 0)):
        nbformat.write(submission, tmp_path / "mine" / "small.ipynb")
        assert checked(CourseDir(course), tmp_path / "mine" / "small.ipynb").report.points == expected
    prover = Prover(ignore=CourseDir(course).directory.ignore)
    [exercise] = prover.exercises([course / "source" / NAME])
    assert prover.report(exercise.source, "total", exercise.right[REFERENCE], prover.limits).points == 2
    course_dir = CourseDir(course)
    assignment = load_assignment(course_dir, NAME, sandbox=True)
    bundle = unpacked(AssignmentBundle.of(assignment, {}, course_dir.config).packed())
    assert {name: content.decode() for name, content in bundle.assignment.files.contents.items()} == FILES
    assert sound(course_dir, assignment).unsound == {}
    write_files(course / "source" / NAME, {"tests.py": "def check(total):\n    assert total() == 7\n"})
    with pytest.raises(UnsoundSource):
        sound(course_dir, load_assignment(course_dir, NAME, sandbox=True))
