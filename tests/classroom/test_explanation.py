"""`grader grade --explain` says what a score is made of, and its sum is nbgrader's."""

import io
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.record.catch_up import FOUND
from grader.classroom.record.entry import FORMGRADER
from grader.classroom.release import release
from grader.commands.cli import main
from grader.commands.grade.explain import explanation
from grader.commands.report.item_analysis import TOGETHER, analysed_tests
from grader.commands.report.load import load_class
from grader.engine.explanation import judged_with
from tests.support.notebooks import answer, answered, cell, helpers, hidden, notebook
from tests.support.small_class import (
    HALF,
    NAME,
    RIGHT,
    SCORES,
    configure,
    grade_class,
    hand_in,
    make_course,
    points,
    released,
)

UNDEFINED = "def two():\n    return one(1) + 1"
"""An answer that is right with a right one()."""


@pytest.fixture(scope="module")
def marked(graded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class after a day of marking: ann is late by a day after an extension of one, fay's answers build on another.

    bob's test has points by hand and extra credit, gus handed nothing in, and hal's file is none.
    """
    folder = shutil.copytree(graded, tmp_path_factory.mktemp("marked") / "course")
    configure(folder, HALF)
    hand_in(
        folder, "fay", answered(released(folder), **RIGHT | {"one": "def one(x=1):\n    return 7", "two": UNDEFINED})
    )
    hand_in(folder, "gus", None)
    hand_in(folder, "hal", b"{not json")
    for student in ("ann", "dan"):
        (folder / "submitted" / student / NAME / "timestamp.txt").write_text("2030-01-04 13:00:00 UTC")
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
        gradebook.grant_extension(NAME, "ann", days=1)
        for student, cell, points, extra in (("bob", "two-check", 4, 0.25), ("ann", "why", 1.5, None)):
            grade = gradebook.find_grade(cell, "small", NAME, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
        earlier = gradebook.find_grade("one-check", "small", NAME, "bob")
        earlier.auto_score, earlier.manual_score = 0, 1
        # Extra credit alone counts nothing in nbgrader.
        gradebook.find_grade("why", "small", NAME, "dan").extra_credit = 1
        gradebook.db.commit()
    grade_class(folder)
    return folder


def printed(folder: Path, student: str, width: int = 80, name: str = NAME) -> list[str]:
    """The lines of an explanation."""
    console = Console(file=io.StringIO(), width=width)
    for part in explanation(CourseDir(folder), name, student):
        console.print(part)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    return [line.rstrip() for line in lines]


def rows(folder: Path, student: str) -> dict[str, list[str]]:
    """The rows of the table of cells, by cell."""
    lines = [line for line in printed(folder, student) if line.startswith("│")]
    cells = [[part.strip() for part in line.split("│")[1:-1]] for line in lines]
    return {name: points for name, *points in cells}


def test_points_by_hand_and_extra_credit_have_their_columns(marked: Path) -> None:
    """A person's points replace the test's; a test that gave other points before waits for another look."""
    assert rows(marked, "bob") == {
        "one-check": ["1", "1, again", "", "1", "1"],
        "one-test-more": ["2", "", "", "2", "2"],
        "two-check": ["2.5", "4", "0.25", "4.25", "5"],
        "why": ["0", "", "", "0", "2"],
        "": ["", "", "", "7.25", "10"],
    }
    assert rows(marked, "dan")["why"] == ["", "waits", "1", "0", "2"]


def test_a_late_penalty_comes_with_its_times_and_its_rule(marked: Path) -> None:
    """The extension counts: one day and one hour, not two."""
    words = [" ".join(line.split()) for line in printed(marked, "ann")]
    assert words[words.index("points 9.5 of 10") : words.index("history")] == [
        "points 9.5 of 10",
        "due 2030-01-02 12:00:00 UTC",
        "extended to 2030-01-03 12:00:00 UTC",
        "handed in 2030-01-04 13:00:00 UTC",
        "late by 1 day, 1:00:00",
        "rule c.AssignLatePenalties.plugin_class = Half",
        "late penalty 4.75 in small",
        "exported 4.75",
    ]
    assert not any("late" in line for line in printed(marked, "eve"))


@pytest.mark.slow
def test_the_history_says_who_changed_what_and_why(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark of the formgrader, a test that gives other points, a better answer; nothing of other students."""
    monkeypatch.setenv("JUPYTERHUB_USER", "mia")
    assert "history" not in printed(again, "bob")
    with CourseDir(again).gradebook() as gradebook:
        for student, points in (("bob", 1.5), ("ann", 1)):
            gradebook.find_grade("why", "small", NAME, student).manual_score = points
        gradebook.db.commit()
    printed(again, "ann")
    hand_in(again, "bob", answered(released(again), **RIGHT))
    grade_class(again)
    lines = printed(again, "bob", width=150)
    first, second = (re.split("  +", line) for line in lines[lines.index("history") + 1 :])
    assert first[1:] == [FORMGRADER, f"why marked - → 1.5: {FOUND}"]
    assert second[1:] == ["mia", "two-check test 2.5 → 5: graded again"]
    assert first[0].endswith(" UTC") and first[0] <= second[0]


def test_tests_that_lost_points_come_with_the_message_told(marked: Path) -> None:
    """Others without, unless they were judged with our answer; repairs, troubles and remarks are there too."""
    dan, ann, fay = (" ".join(" ".join(printed(marked, student)).split()) for student in ("dan", "ann", "fay"))
    assert "one-check: crashed, 0 of 1 Your code was stopped: the process ended itself." in dan
    assert "two-check:" not in dan and "-check:" not in ann
    assert judged_with(("one",)) in fay
    assert "repaired: " in "\n".join(printed(marked, "cat"))
    assert "trouble: small.ipynb is not JSON" in "\n".join(printed(marked, "hal"))
    assert "remark: small.ipynb was not handed in" in printed(marked, "gus")
    assert any(line.startswith("No messages are kept") for line in printed(marked, "gus"))


@pytest.mark.slow
def test_a_known_mistake_is_named_and_a_message_is_only_text(again: Path) -> None:
    """The mistake has the name of the course's list; a message may quote what the code raised: it moves no cursor."""
    mistakes = again / "source" / NAME / "misconceptions"
    mistakes.mkdir()
    (mistakes / "one.toml").write_text(
        '[[misconception]]\nname = "always returns 1"\nfind = "return x"\nreplace = "return 1"\nhint = "Use x."\n'
    )
    raising = "def two():\n    raise ValueError('[bold]\\x1b[2J\\r')"
    wrong = {"one": "def one(x=1):\n    return 1", "two": raising}
    hand_in(again, "ann", answered(released(again), **RIGHT | wrong))
    grade_class(again)
    lines = printed(again, "ann", width=200)
    assert any(line.strip().startswith("known mistake: ") for line in lines)
    text = "\n".join(lines)
    assert "[bold]" in text and "\x1b" not in text and "\r" not in text


def test_the_command_grades_nobody(
    again: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It needs no submission and no record; an unknown student or assignment is one line that says what to do."""
    monkeypatch.chdir(again)
    shutil.rmtree(again / "submitted")
    for record in again.rglob(".*.results.json"):
        record.unlink()
    assert rows(again, "ann")["two-check"] == ["5", "", "", "5", "5"]
    before = {path: path.read_bytes() for path in again.rglob("*") if path.is_file()}
    assert main(["grade", NAME, "--explain", "ann"]) == 0
    assert "ann in 01-small" in capsys.readouterr().out
    for arguments, words in (
        ([NAME, "--explain", "zoe"], "no score of 'zoe' in '01-small'"),
        (["02-none", "--explain", "ann"], "no assignment '02-none'"),
    ):
        assert main(["grade", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line
    assert {path: path.read_bytes() for path in again.rglob("*") if path.is_file()} == before


def test_the_seed_of_a_failed_test_is_for_the_instructor(tmp_path: Path) -> None:
    """The explanation names the number with which the test draws the same again; the student's page does not."""
    folder, name = make_course(tmp_path / "course"), "02-drawn"
    test = "g = torch.Generator()\nassert double(g.seed()) < 0, 'yours is not negative'"
    source = notebook(
        helpers("imports", "import torch"),
        answer("double", "def double(x):\n    ### BEGIN SOLUTION\n    return -2 * x\n    ### END SOLUTION"),
        hidden("double-test-sign", "The result is negative.", test),
    )
    (folder / "source" / name).mkdir()
    nbformat.write(source, folder / "source" / name / "small.ipynb")
    release(CourseDir(folder), name)
    (folder / "submitted" / "ann" / name).mkdir(parents=True)
    wrong = answered(source, double="def double(x):\n    return 2 * x")
    nbformat.write(wrong, folder / "submitted" / "ann" / name / "small.ipynb")
    list(ClassRun(CourseDir(folder), name).outcomes())
    lines = "\n".join(printed(folder, "ann", 200, name))
    [seed] = re.findall(r"torch\.Generator\.seed gave (\d+)$", lines, re.MULTILINE)
    pages = list((folder / "feedback" / "ann" / name).glob("*.html"))
    assert pages and all("not negative" in page.read_text() or page.stem == "index" for page in pages)
    assert not any(seed in page.read_text() for page in pages)


@pytest.mark.slow
def test_the_class_has_the_same_points_and_the_teacher_sees_which_were_judged_so(again: Path) -> None:
    """Of right, partly right, damaged, hostile and blank work; the release keeps the tag, which is harmless there.

    The source has it at one hidden test and at one that gives a part of its points; `grader grade --explain` and the
    report on the class mark these tests and no others.
    """
    path = again / "source" / NAME / "small.ipynb"
    source = nbformat.read(path, as_version=4)
    for name in ("one-test-more", "two-check"):
        cell(source, name).metadata["tags"] = ["together"]
    nbformat.write(source, path)
    release(CourseDir(again), NAME)
    assert "together" in cell(released(again), "two-check").metadata["tags"]
    assert "together" not in cell(released(again), "one-check").metadata.get("tags", [])
    assert grade_class(again) == sorted(SCORES) and points(again) == SCORES
    marked = [line.split("│")[1].strip() for line in printed(again, "bob", 100) if "(judged together)" in line]
    assert marked == ["one-test-more (judged together)", "two-check (judged together)"]
    notes = {test.name: test.notes for test in analysed_tests(load_class(CourseDir(again), NAME))}
    assert notes == {"one-check": [], "one-test-more": [TOGETHER], "two-check": [TOGETHER]}
