"""A class run grades the file that is filled in, whatever it is called, and leaves no file unmentioned."""

import shutil
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.result_files import read_record
from grader.classroom.release import release
from grader.commands.cli import main
from grader.errors import GraderError
from tests.support.notebooks import answer, answered, check, notebook
from tests.support.small_class import (
    NAME,
    RIGHT,
    SCORES,
    grade_all,
    grade_class,
    hand_in,
    make_course,
    points,
    released,
    run,
    write_files,
)

THREE = notebook(
    answer("three", "def three():\n    ### BEGIN SOLUTION\n    return 3\n    ### END SOLUTION"),
    check("three-check", "assert three() == 3", points=4),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "small (1).ipynb", "small-Copy1.ipynb", "Kopie von small.ipynb", "Copy of small.ipynb", "SMALL.IPYNB",
        "small.ipynb.txt", "small.json", "01-small/small.ipynb", "a/b/homework.ipynb",
    ],
)  # fmt: skip
@pytest.mark.parametrize("expected", [None, "blank", b"{"])
def test_a_renamed_notebook_is_graded_and_its_page_names_it(
    again: Path, name: str, expected: str | bytes | None
) -> None:
    """Without, with a blank and with a damaged one of the expected name; it is graded again only when it changes.

    Another name is no damage, so the record has no repair.
    """
    work = answered(released(again), **RIGHT)
    submitted = hand_in(again, "gus", released(again) if expected == "blank" else expected)
    write_files(submitted, {name: work})
    result = grade_all(again)["gus"]
    why = {None: "was not handed in", "blank": "is as released", b"{": "cannot be read"}[expected]
    record = read_record(again / "autograded" / "gus" / NAME, "small")
    assert record is not None and record.repairs == []
    assert result.notices == [f"small was graded from {name!r}, because small.ipynb {why}"] and not result.errors
    assert points(again)["gus"] == 8
    page = (again / "feedback" / "gus" / NAME / "small.html").read_text()
    assert f"This is your file <code>{name}</code>." in page
    assert grade_class(again) == [] and grade_all(again)["gus"].notices == result.notices
    write_files(submitted, {name: answered(work, one="def one(x=1):\n    return 2")})
    assert grade_class(again) == ["gus"] and points(again)["gus"] == 5
    assert "This is your file" not in (again / "feedback" / "ann" / NAME / "small.html").read_text()


@pytest.mark.slow
def test_a_hostile_name_is_only_text(again: Path) -> None:
    """On the page and in the table: with markup, signs that move the cursor or reverse a line, and broken bytes."""
    work = answered(released(again), **RIGHT)
    names = {"gus": "<b>small</b>.ipynb", "hal": "\x1b[2J\u202esmall.ipynb", "ivy": "small\udcff.ipynb"}
    for student, name in names.items():
        write_files(hand_in(again, student, None), {name: work})
    results = grade_all(again)
    for student, name in names.items():
        (notice,) = results[student].notices
        assert notice.startswith(f"small was graded from {name!r}") and notice.isprintable()
        page = (again / "feedback" / student / NAME / "small.html").read_text()
        assert "This is your file" in page and not {"\x1b", "\u202e"} & set(page) and "<b>small" not in page
        assert points(again)[student] == 8


@pytest.mark.slow
def test_notebooks_with_exchanged_names_are_graded_by_their_cells(tmp_path: Path) -> None:
    """Both have all points, and each notice says what the file of the expected name holds.

    One file under the name of another notebook counts once; the other notebook was not handed in.
    """
    folder, third = make_course(tmp_path / "course"), answered(THREE, three="def three():\n    return 3")
    nbformat.write(THREE, folder / "source" / NAME / "third.ipynb")
    release(CourseDir(folder), NAME)
    write_files(hand_in(folder, "gus", third), {"third.ipynb": answered(released(folder), **RIGHT)})
    hand_in(folder, "hal", third)
    results = grade_all(folder)
    assert points(folder) == {"gus": 12, "hal": 4} and not results["gus"].errors
    assert results["hal"].notices == [
        "third was graded from 'small.ipynb', because third.ipynb was not handed in",
        "small.ipynb has the cells of third",
    ]
    assert results["gus"].notices == [
        "small was graded from 'third.ipynb', because small.ipynb has the cells of third",
        "third was graded from 'small.ipynb', because third.ipynb has the cells of small",
    ]


@pytest.mark.slow
def test_between_different_answers_nothing_is_guessed(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are named once, and the exit status is 1; the file of the expected name is graded if there is one.

    The exit status is 0 if a notebook is merely missing, or was found under another name.
    """
    monkeypatch.chdir(again)
    one = {"small (1).ipynb": answered(released(again), **RIGHT)}
    other = {"small (2).ipynb": answered(released(again), one="def one(x=1):\n    return x")}
    rivals = "'small (1).ipynb' and 'small (2).ipynb' have different answers: remove all but the right one"
    write_files(hand_in(again, "gus", None), one | other)
    write_files(hand_in(again, "hal", released(again)), one | other)
    write_files(hand_in(again, "ivy", one["small (1).ipynb"]), other)
    write_files(hand_in(again, "jan", one["small (1).ipynb"]), one | {"small (3).ipynb": released(again)})
    results = grade_all(again)
    assert results["gus"].errors == [f"small.ipynb was not handed in, and {rivals}"]
    assert results["hal"].errors == [f"small.ipynb is as released, and {rivals}"]
    assert results["ivy"].notices == ["left out: 'small (2).ipynb' (not the same answers as in small.ipynb)"]
    assert results["jan"].notices == [
        "left out: 'small (1).ipynb' (the same answers as in small.ipynb)",
        "left out: 'small (3).ipynb' (as released)",
    ]
    assert points(again) == SCORES | {"gus": 0, "hal": 0, "ivy": 8, "jan": 8}
    assert main(["grade", NAME, "--student=gus"]) == 1
    (again / "submitted" / "gus" / NAME / "small (2).ipynb").unlink()
    assert main(["grade", NAME, "--student=gus"]) == 0 and points(again)["gus"] == 8
    (again / "submitted" / "gus" / NAME / "small (1).ipynb").unlink()
    assert main(["grade", NAME, "--student=gus"]) == 0 and points(again)["gus"] == 0


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (
            "small.zip",
            "'small.zip' is an archive: run grader import submitted/gus/01-small/small.zip --assignment 01-small "
            "--student gus, and grade again",
        ),
        ("all.tar.gz", "'all.tar.gz' is an archive: unpack the notebooks, and grade again"),
        ("small.html", "'small.html' cannot be graded: ask the student for the notebook"),
        ("small (1).ipynb", "'small (1).ipynb' is not JSON, so it is not a notebook: ask the student for it again"),
        (
            "mine\x1b[2J.ipynb",
            "'mine\\x1b[2J.ipynb' is not JSON, so it is not a notebook: ask the student for it again",
        ),
    ],
)
def test_a_file_that_may_hold_answers_is_an_error_if_there_are_none(
    again: Path, file: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no notebook, with a blank one and with a filled one: only there it is a mere notice."""
    monkeypatch.chdir(again)
    for student, work in (("gus", None), ("hal", released(again)), ("ivy", answered(released(again), **RIGHT))):
        write_files(hand_in(again, student, work), {file: b"PK"})
    results = grade_all(again)
    for student in ("gus", "hal"):
        assert line.replace("gus", student) in results[student].errors
    ignored = f"ignored, because no notebook's code names it: {file!r}"
    left_out = f"left out: {file!r} (not opened, as all notebooks are there)"
    notices = {"small.html": ignored, "small.zip": left_out, "all.tar.gz": left_out}
    assert results["ivy"].notices == [notices.get(file, line)]
    assert not results["ivy"].errors and points(again)["ivy"] == 8


@pytest.mark.slow
def test_every_ignored_file_is_named_but_not_what_programs_make(again: Path) -> None:
    """Data, modules and pictures that no code names; a strange notebook is an error only if one is missing."""
    quiet = {
        "vocab.json": b"{}", "data/words.txt": b"x", "helper.py": b"", "README": b"", "photo.png": b"",
        "timestamp.txt": b"", "submission_secret.txt": b"", "hand_in.toml": b"",
        ".ipynb_checkpoints/small-checkpoint.ipynb": b"{", "__MACOSX/small.ipynb": b"{", "a/.git/small.ipynb": b"{",
    }  # fmt: skip
    write_files(hand_in(again, "gus", answered(released(again), **RIGHT)), quiet)
    write_files(hand_in(again, "hal", released(again)), {"play.ipynb": notebook()})
    write_files(hand_in(again, "ivy", None), {"play.ipynb": notebook()})
    write_files(hand_in(again, "jim", None), {"homework.pdf": b"%PDF"})
    results = grade_all(again)
    ignored = "'README', 'data/words.txt', 'helper.py', 'photo.png' and 'vocab.json'"
    assert results["gus"].errors + results["gus"].notices == [
        f"ignored, because no notebook's code names it: {ignored}"
    ]
    assert results["jim"].errors == ["'homework.pdf' cannot be graded: ask the student for the notebooks"]
    write_files(again / "submitted" / "gus" / NAME, {"late.pdf": b""})
    assert "'late.pdf'" in grade_all(again)["gus"].notices[0]
    line = "'play.ipynb' belongs to no notebook of this assignment"
    assert results["hal"].notices == [line] and not results["hal"].errors
    assert results["ivy"].errors == [f"{line}: rename the right file"]


@pytest.mark.slow
def test_files_that_are_not_looked_at_are_named_together(again: Path) -> None:
    """Twenty are read beside the expected ones; folders are looked into to a depth, and up to a number of files."""
    write_files(hand_in(again, "gus", None), {f"x{number:02}.ipynb": b"{" for number in range(30)})
    errors = grade_all(again)["gus"].errors
    assert errors[-1] == "27 more files cannot be read" and len(errors) == 4
    work = answered(released(again), **RIGHT)
    write_files(hand_in(again, "hal", None), {"a/b/c/d/small.ipynb": work})
    write_files(hand_in(again, "ivy", None), {f"many/{number}": b"" for number in range(1_000)})
    write_files(hand_in(again, "jan", None), {f"data/{number}": b"" for number in range(100)})
    write_files(again / "submitted" / "jan" / NAME, {"data/small.ipynb": work})
    results = grade_all(again)
    assert "'a/b/c/d' is too deep" in results["hal"].errors[0]
    assert "only 1000 files were looked at" in results["ivy"].errors[0]
    assert not results["jan"].errors and points(again)["jan"] == 8


@pytest.mark.slow
def test_a_file_that_was_imported_is_not_named_again(
    again: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that the table names is enough, from either wrong place; another version there is named."""
    work, students = answered(released(again), **RIGHT), again / "submitted"
    write_files(students / "gus", {"small.ipynb": work})
    write_files(students / "hal", {"01_small/small (1).ipynb": work})
    monkeypatch.chdir(again)
    for student in ("gus", "hal"):
        assert main(["import", f"submitted/{student}", "--assignment", NAME]) == 0
    results = grade_all(again)
    assert [results[student].errors for student in ("gus", "hal")] == [[], []]
    assert main(["grade", NAME, "--student", "gus", "--student", "hal"]) == 0
    write_files(students / "gus", {"small.ipynb": answered(released(again), **RIGHT | {"why": "I thought again."})})
    assert "'small.ipynb'" in grade_all(again)["gus"].errors[0]


def test_files_outside_of_the_folder_of_the_assignment_are_named(
    again: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it, in one of almost its name, under a strange name; the student is in the table, the exit status is 1."""
    work, students = answered(released(again), **RIGHT), again / "submitted"
    write_files(students / "gus", {"small.ipynb": work})
    write_files(students / "hal", {"01_small/small (1).ipynb": work})
    write_files(students / "ivy", {"homework.ipynb": work, "notes.ipynb": notebook(), "letter.txt": b""})
    write_files(students / "ann", {"Small.ipynb": work})
    write_files(students / "jan", {"02-other/x.ipynb": notebook()})
    (students / "kim").symlink_to(students / "gus")
    (students / "list.csv").write_text("")
    (students / "leo.zip").write_bytes(b"PK")
    write_files(students / "mia", {"homework.zip": b"PK", "photos.txt": b""})
    results = grade_all(again)
    for student, file in (("gus", "small.ipynb"), ("hal", "01_small/small (1).ipynb"), ("ivy", "homework.ipynb"),
        ("leo.zip", "leo.zip"), ("mia", "homework.zip")):  # fmt: skip
        whose = " --student NAME" if student == file else ""
        assert results[student].errors == [
            f"not graded, because it is outside of submitted/{student}/{NAME}/: {file!r}; "
            f"run grader import submitted/{student} --assignment {NAME}{whose}"
        ]
    # A link counts as a submission, and is not followed.
    assert "'Small.ipynb'" in results["ann"].errors[0] and results.keys() == {
        *SCORES,
        "gus",
        "hal",
        "ivy",
        "kim",
        "leo.zip",
        "mia",
    }
    assert points(again) == SCORES | {"kim": 0}
    monkeypatch.chdir(again)
    assert main(["grade", NAME]) == 1
    out = capsys.readouterr().out
    assert "gus" in out and "outside" in out
    for student in SCORES:
        shutil.rmtree(students / student)
    (students / "kim").unlink()
    with pytest.raises(GraderError, match="submitted/ has only other files of gus, hal, ivy, jan, leo.zip …"):
        grade_all(again)


@pytest.mark.slow
def test_nbgrader_names_the_files_that_it_does_not_read(again: Path) -> None:
    """The plug-in logs what `grader grade` would say of them."""
    work = answered(released(again), **RIGHT)
    write_files(hand_in(again, "gus", released(again)), {"small (1).ipynb": work, "x.zip": b""})
    done = run(again, "nbgrader", "autograde", NAME, "--student=gus")
    assert "'small (1).ipynb' was not read, and small.ipynb is as released: rename the file" in done.stderr
    assert "left out: 'x.zip'" in done.stderr
