"""A mistake of ours in a notebook stops grading before anyone loses a point, and says which line to correct."""

import copy
import itertools
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.result_files import read_record
from grader.classroom.source.faults import Fault, lines_on
from grader.classroom.source.student_zero import STAMP, STUDENT, sound
from grader.classroom.student import load_assignment
from grader.commands.grade.explain import explanation
from grader.commands.report.command import class_report
from grader.engine.explanation import UNGRADABLE, Ending, EndingKind
from grader.errors import UnsoundSource
from tests.support.notebooks import answered, cell, code
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, SCORES, SOURCE, grade_class, ledger, make_class, points, run

HIDDEN = "# one(x) is x.\n### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"
BROKEN = {
    "a name": ("assert torhc.ones(2).sum() == 2", "NameError: name 'torhc' is not defined"),
    "an attribute": ("assert torch.onse(2).sum() == 2", "AttributeError: module 'torch' has no attribute 'onse'"),
    "an expected value": ("assert one(3) == 4, 'one(3) is not 4'", "AssertionError: one(3) is not 4"),
    "a property that ours lacks": ("assert one(torch.ones(2, 3).T).is_contiguous()", "AssertionError"),
    "a missing file": ("open('nowhere.csv')", "FileNotFoundError: "),
    "what cannot cross": ("one(object())", "TypeError: a test may pass"),
    "an argument": ("one(3, 4)", "TypeError: one() takes"),
    "a part of the points": ("0.25", "it gave 0.25 of"),
}
"""Lines of tests that our solution does not pass, with the reason."""
READ_ONLY = {
    "import torch\nimport missing_helper as h": "ModuleNotFoundError: No module named 'missing_helper'",
    "import torch\nh = torch.load('nowhere.pt')": "FileNotFoundError: ",
    "import torch\nh = torhc": "NameError: name 'torhc' is not defined",
}


def write(folder: Path, cells: dict[str, str]) -> NotebookNode:
    """Write the source with other text in some cells, and return it."""
    source = answered(SOURCE, **cells)
    nbformat.write(source, folder / "source" / NAME / "small.ipynb")
    return source


def faults(folder: Path) -> tuple[str, ...]:
    """The lines on the faults of the assignment, none if it is sound."""
    course_dir = CourseDir(folder)
    try:
        sound(course_dir, load_assignment(course_dir, NAME, sandbox=True))
    except UnsoundSource as error:
        return error.details
    return ()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class, graded with sound tests."""
    folder = make_class(tmp_path_factory.mktemp("graded"))
    grade_class(folder)
    assert points(folder) == SCORES
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return shutil.copytree(graded, tmp_path / "course")


def kept(folder: Path) -> dict[Path, bytes]:
    """All files that hold results."""
    folders = [folder / name for name in ("autograded", "feedback", "release")]
    return {path: path.read_bytes() for place in folders for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", BROKEN)
def test_each_kind_of_mistake_is_found_in_a_visible_and_in_a_hidden_test(course: Path, kind: str) -> None:
    """Each with its cell, its line, the text of the line, the reason and what to do."""
    line, reason = BROKEN[kind]
    write(course, {"one-check": f"assert one() == 1\n{line}", "one-test-more": HIDDEN.format(line)})
    places = faults(course)[::2]
    assert places == (f"  small, one-check, line 2: {line}", f"  small, one-test-more, line 3: {line}")
    assert all(reason in why and "): " in why for why in faults(course)[1::2])


@pytest.mark.slow
def test_a_test_in_the_students_process_is_tried_likewise(course: Path) -> None:
    """A test with the tag `together`. One without points is noted and stops nothing, because no one can lose any."""
    for kind in ("a name", "an expected value", "an argument"):
        line, reason = BROKEN[kind]
        source = write(course, {"one-test-more": HIDDEN.format(line), "one-check": "torhc"})
        cell(source, "one-test-more").metadata["tags"] = ["together"]
        cell(source, "one-check").metadata.nbgrader.points = 0
        nbformat.write(source, course / "source" / NAME / "small.ipynb")
        place, why = faults(course)
        assert place == f"  small, one-test-more, line 3: {line}" and reason in why
    cell(source, "one-test-more").source = cell(SOURCE, "one-test-more").source
    nbformat.write(source, course / "source" / NAME / "small.ipynb")
    course_dir, lines = CourseDir(course), list[str]()
    sound(course_dir, load_assignment(course_dir, NAME, sandbox=True), note=lines.append)
    assert lines[0] == "  small, one-check, line 1: torhc"


@pytest.mark.parametrize(("text", "reason"), READ_ONLY.items())
@pytest.mark.parametrize("use", ["one", "one-test-more"])
def test_a_read_only_cell_that_does_not_run_is_ours(course: Path, text: str, reason: str, use: str) -> None:
    """If our solution or a test needs what it binds."""
    uses = {"one": "def one(x=1):\n    h\n    return x", "one-test-more": HIDDEN.format("assert one(h) is h")}
    write(course, {"imports": text, use: uses[use]})
    place, why, *_ = faults(course)
    assert place == f"  small, imports, line 2: {text.splitlines()[1]}" and reason in why


@pytest.mark.parametrize(
    "cells",
    [
        {"imports": "import torch\nimport missing_helper"},  # which nothing needs
        {"imports": "import torch\nassert False, 'a remark'"},
        {"one-check": "assert one() == 1\none()"},
        {"two-check": "two() * 2.5"},
        {},
    ],
)
def test_what_costs_no_one_a_point_is_no_fault(course: Path, cells: dict[str, str]) -> None:
    """Only what our own solution loses stops a class."""
    write(course, cells)
    assert faults(course) == ()


def test_a_read_only_cell_that_is_meant_to_fail_may_fail(course: Path) -> None:
    """Jupyter's tag says so."""
    source = write(course, {"imports": "import torch\nh = torhc", "two": "def two():\n    str('h')\n    return 2"})
    source.cells.insert(3, code("[h for _ in ()]"))
    for tags, count in (["raises-exception"], 0), ([], 2):
        cell(source, "imports").metadata["tags"] = tags
        nbformat.write(source, course / "source" / NAME / "small.ipynb")
        assert len(faults(course)) == count


@pytest.mark.slow
def test_grading_stops_and_nothing_changes(course: Path, tmp_path: Path) -> None:
    """The gradebook, the students' pages and the release are as before; a first run writes nothing, either.

    No release is made, and no service starts: a student's attempt would be lost to our mistake.
    """
    before, files = ledger(course), kept(course)
    for kind, options in (("a name", ()), ("a property that ours lacks", ("--changed", "--yes"))):
        line, reason = BROKEN[kind]
        write(course, {"one-test-more": HIDDEN.format(line)})
        done = run(course, "grader", "grade", NAME, *options)
        assert done.returncode == 1 and "written" not in done.stdout
        first, place, why = done.stderr.splitlines()
        assert first == on_the_page()[0].replace("04-attention", NAME) and "--anyway" in first
        assert first.startswith(f"grader: our own solution of '{NAME}' does not pass our own tests")
        assert place == f"  small, one-test-more, line 3: {line}"
        assert why.startswith(f"    our solution loses 2 of 2 points here ({reason})")
        assert ledger(course) == before and kept(course) == files
    for command in (("release", NAME), ("serve", "--bind", "127.0.0.1:0")):
        done = run(course, "grader", *command)
        assert done.returncode == 1 and place in done.stderr and kept(course) == files
    assert run(course, "grader", "release", NAME, "--anyway").returncode == 0
    make_class(tmp_path / "first")
    write(tmp_path / "first", {"imports": "import torch\nimport missing_helper as h", "one-check": "assert h.one"})
    done = run(tmp_path / "first", "grader", "grade", NAME)
    assert done.returncode == 1 and "small, imports, line 2" in done.stderr
    assert not any((tmp_path / "first" / name).exists() for name in ("gradebook.db", "feedback"))


@pytest.mark.slow
def test_anyway_grades_and_names_the_tests(course: Path) -> None:
    """A student who passes keeps the points; the others read that it cannot be graded; the teacher reads why."""
    line, reason = BROKEN["an expected value"]
    write(course, {"one-test-more": HIDDEN.format(line)})
    lucky = nbformat.read(course / "submitted" / "ann" / NAME / "small.ipynb", as_version=4)
    cell(lucky, "one").source = "def one(x=1):\n    return 1 if x == 1 else x + 1"
    nbformat.write(lucky, course / "submitted" / "ann" / NAME / "small.ipynb")
    for _ in range(2):  # the second time, everyone is done, and the table is the same
        done = run(course, "grader", "grade", NAME, "--anyway")
        assert done.returncode == 0, done.stderr
        assert "2 points in tests that cannot be graded" in " ".join(done.stdout.split()).replace("│ ", "")
        table = done.stdout[done.stdout.index("tests that cannot be graded", done.stdout.index("└")) :]
        (row,) = (row for row in table.splitlines() if "one-test-more" in row)
        assert [part.strip() for part in row.split("│")[1:5]] == ["small", "one-test-more", "3", "3"]
    assert points(course) == {"ann": 8, "bob": 3.5, "cat": 6, "dan": 5, "eve": 0}
    record = read_record(course / "autograded" / "bob" / NAME, "small")
    assert record is not None
    (result,) = (test for test in record.tests if test.name == "one-test-more")
    assert result.message == UNGRADABLE and result.ending is not None and result.ending.reason == reason
    page = (course / "feedback" / "bob" / NAME / "small.html").read_text()
    assert UNGRADABLE in page and line not in page and reason not in page
    shown = "\n".join(str(getattr(part, "renderable", part)) for part in explanation(CourseDir(course), NAME, "bob"))
    assert f"line 3: {line}: {reason}" in shown
    (incident,) = (each for each in class_report(CourseDir(course), NAME).incidents if each.kind == "ungradable")
    assert incident.detail == f"one-test-more, line 3: {reason}" and len(incident.students) == 3


@pytest.mark.slow
def test_autograde_stops_with_the_same_lines(course: Path) -> None:
    """And names the setting, because nbgrader's command has no such option."""
    line, _ = BROKEN["a name"]
    write(course, {"one-test-more": HIDDEN.format(line)})
    before = ledger(course)
    done = run(course, "nbgrader", "autograde", NAME, "--force")
    assert done.returncode == 1 and f"small, one-test-more, line 3: {line}" in done.stderr
    assert "c.Grader.allow_broken_tests = True" in done.stderr and ledger(course) == before
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Grader.allow_broken_tests = True\n")
    done = run(course, "nbgrader", "autograde", NAME, "--force", "--student=ann")
    assert done.returncode == 0, done.stderr
    text = (course / "autograded" / "ann" / NAME / "small.ipynb").read_text()
    assert UNGRADABLE in text and ledger(course)["ann"]["score"] == SCORES["ann"] - 2
    # The setting does what --anyway does, and the stamp's folder is no student's.
    done = run(course, "grader", "grade", NAME, "--changed", "--yes")
    assert done.returncode == 0 and "tests that cannot be graded" in done.stdout
    assert [*ledger(course)] == sorted(SCORES)
    assert (REPOSITORY / ".gitignore").read_text().count("/autograded/*") == 1
    done = run(course, "nbgrader", "generate_feedback", NAME, "--force")
    assert done.returncode == 0 and STUDENT not in done.stderr


def test_a_sound_notebook_is_graded_once(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its text, the grader or a limit changes; the stamp lies with those of students."""
    assert (course / "autograded" / STUDENT / NAME / STAMP).exists()
    course_dir, zero = CourseDir(course), "grader.classroom.source.student_zero"
    monkeypatch.setattr(f"{zero}._known", {})
    monkeypatch.setattr(f"{zero}.grade", None)
    assignment = load_assignment(course_dir, NAME, sandbox=True)
    assert sound(course_dir, assignment) == assignment
    changed = copy.deepcopy(assignment)
    changed.texts["small"] += " "
    for other in (changed, load_assignment(course_dir, NAME, sandbox=False)):
        with pytest.raises(TypeError, match="NoneType"):
            sound(course_dir, other)
    monkeypatch.setattr(f"{zero}.engine_digest", lambda _: "another version")
    with pytest.raises(TypeError, match="NoneType"):
        sound(course_dir, assignment)


def on_the_page() -> list[str]:
    """Return the example of the page for instructors."""
    page = (REPOSITORY / "docs" / "instructors.md").read_text()
    assert f'"{UNGRADABLE}"' in page and f"`autograded/{STUDENT}/`" in page
    example = page.split("### When a test of yours is broken")[1].split("```text\n")[1].split("```")[0]
    return example.splitlines()


def test_the_page_for_instructors_shows_what_is_printed() -> None:
    """Its example is made of the lines that the program prints, and its sentences are those of students."""
    line, reason = "assert torhc.equal(y, x)", "NameError: name 'torhc' is not defined"
    ending = Ending(EndingKind.NAME, reason, 4, line)
    assert on_the_page()[1:] == [*lines_on([Fault("2-self-attention", "split-heads-test-edges", ending, 2, 2)])]


def test_the_remedy_names_the_tag_where_two_processes_may_be_the_cause() -> None:
    """Not for a typo, and not for a test that has the tag."""
    for kind, together in itertools.product(EndingKind, (False, True)):
        [_, why] = lines_on([Fault("one", "one-check", Ending(kind, "why"), 1, 1, together)])
        may_be = kind not in (EndingKind.NAME, EndingKind.SYNTAX, EndingKind.STOPPED, EndingKind.NOT_RUN)
        assert ("tag the cell `together`" in why) is (may_be and not together)
