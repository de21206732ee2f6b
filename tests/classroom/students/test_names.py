"""One rule for the names of students: what it allows is carried by every part, and what it refuses by none."""

import csv
from pathlib import Path

import pytest

from grader.classroom.students.names import fault_of_name
from grader.commands.cli import main
from tests.support.notebooks import answered
from tests.support.platform_files import Packed, packed, write_csv
from tests.support.small_class import NAME, RIGHT, hand_in, ledger, make_course, released, run

ALL_SIGNS = "d'angelo & o\u2019hara, (a=b)!~$.x_y-z@uni"


@pytest.mark.parametrize(
    "name", [*"s 123456 ann.lee@example.org ann_lee-2 žofie d'angelo 山田 अनु _x".split(), "de la cruz", ALL_SIGNS]
)
def test_usual_names_are_allowed(name: str) -> None:
    """Logins, addresses, numbers, and every alphabet, with the marks that belong to its letters."""
    assert fault_of_name(name) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"), ("a/b", "has '/'"), ("..", "begins with '.'"), (".ann", "begins with '.'"),
        ("-ann", "begins with '-'"), (" ann", "begins with ' '"), ("ann ", "ends with ' '"), ("ann.", "ends with '.'"),
        ("a+b", "has '+', which nbgrader puts between"), ("a*", "has '*'"), ("a?", "has '?'"), ("[a]", r"has '['"),
        ("a\nb", r"has '\n'"), ("a\x1b[2J", r"has '\x1b'"), ("a\u202eb", r"has '\u202e'"), ("a\udcff", "has "),
        ("a\\b", "has "), ("a:b", "has ':'"), ("a#b", "has '#'"), ("a%2fb", "has '%'"), ('a"b', "has '\"'"),
        ("a<b", "has '<'"), ("x" * 101, "is longer"), ("山" * 99, "is longer"), ("zoe\u0301", "as two characters"),
    ],
)  # fmt: skip
def test_other_names_are_refused_with_the_reason(name: str, why: str) -> None:
    """Paths, patterns, addresses and file names of nbgrader would read them otherwise, and terminals, too."""
    assert why in fault_of_name(name)


@pytest.mark.slow
def test_every_part_carries_all_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From nbgrader's exchange and the roster to grades, nbgrader's own commands, pages and exports."""
    course = make_course(tmp_path / "course")
    monkeypatch.chdir(course)
    work = answered(released(course), **RIGHT)
    inbound = course / "exchange" / "attention" / "inbound"
    hand_in(tmp_path, "x", work).rename(tmp_path / "work")
    (tmp_path / "work" / "timestamp.txt").write_text("2030-01-01 10:00:00 UTC")
    inbound.mkdir(parents=True)
    (tmp_path / "work").rename(inbound / f"{ALL_SIGNS}+{NAME}+2030-01-01 10:00:00 UTC+0123456789abcdef")
    done = run(course, "nbgrader", "collect", NAME)
    assert (course / "submitted" / ALL_SIGNS / NAME / "small.ipynb").exists(), done.stderr
    write_csv(course, f'id,first_name\n"{ALL_SIGNS}",Ann\n')
    assert main(["roster", "file.csv"]) == 0 and main(["grade", NAME]) == 0
    assert ledger(course)[ALL_SIGNS]["score"] == 8
    for command in ("autograde", "generate_feedback"):
        done = run(course, "nbgrader", command, NAME, "--student", ALL_SIGNS, "--force")
        assert done.returncode == 0, done.stderr
    assert (course / "feedback" / ALL_SIGNS / NAME / "small.html").exists() and ledger(course)[ALL_SIGNS]["score"] == 8
    assert main(["export", NAME, "--for", "csv"]) == 0
    (row,) = csv.DictReader((course / "grades.csv").read_text().splitlines())
    assert row["student_id"] == ALL_SIGNS and row["score"] == "8.0"
    assert main(["tokens", "file.csv"]) == 0


@pytest.mark.slow
def test_a_folder_with_another_name_is_named_and_not_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By `grade`, also if it is asked for, and by nbgrader's command; the others are graded."""
    course = make_course(tmp_path / "course")
    monkeypatch.chdir(course)
    for student in ("ann", "a+b", "c\x1bd", "zoe\u0301"):
        hand_in(course, student, answered(released(course), **RIGHT))
    assert main(["grade", NAME]) == 1
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "not graded, because this name has '+'" in shown and "run grader roster --rename a+b NAME" in shown
    # A roster has the usual spelling: the folder gets it, or its files go to the student who is there.
    assert "--rename 'zoe\u0301' 'zo\u00e9', or move its files to the student 'zo\u00e9' if there is one" in shown
    assert "\x1b" not in shown and ledger(course).keys() == {"ann"}
    assert [path.name for path in (course / "autograded").glob("[!.]*")] == ["ann"]
    assert [path.name for path in (course / "feedback").iterdir()] == ["ann"]
    assert main(["grade", NAME, "--student", "a+b"]) == 1 and "has '+'" in capsys.readouterr().out
    done = run(course, "nbgrader", "autograde", NAME, "--force")
    assert "a+b/01-small was not graded: a student's name has letters" in done.stderr
    assert ledger(course).keys() == {"ann"}


def test_a_student_whom_nbgrader_added_under_such_a_name_gets_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`grader import` says so."""
    course = make_course(tmp_path / "course")
    monkeypatch.chdir(course)
    run(course, "nbgrader", "db", "student", "add", "a+b", "--lms-user-id", "101")
    (course / "all.zip").write_bytes(packed([Packed("leeann_101_7101_small.ipynb", b"{}")]))
    assert main(["import", "all.zip", "--assignment", NAME]) == 1
    assert "'a+b' has '+'" in capsys.readouterr().err and not (course / "submitted").exists()
