"""`grader check` as a person runs it: its output, its exit status, and whose configuration it reads."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from grader.classroom.course_root import remember
from grader.commands.cli import main
from grader_kernel import progress
from tests.support.notebooks import answered
from tests.support.paths import GRADER
from tests.support.small_class import NAME, RIGHT, SCORES, hand_in, make_course, points, released

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_the_course(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of the graded class is the working folder, and known."""
    remember(again)
    monkeypatch.chdir(again)


def shown(capsys: Capture) -> str:
    """What was printed, as one line."""
    return " ".join(capsys.readouterr().out.split())


def test_checking_one_notebook_shows_each_exercise(again: Path, capsys: Capture) -> None:
    """Without a gradebook; the exit status is 0 for full points only, so that a script can use it."""
    before = points(again)
    for student, status, lines in (
        ("ann", 0, ("one 3 / 3 right", "two 5 / 5 right", "8 of 8 points from tests")),
        ("bob", 1, ("one 3 / 3 right", "two 2.5 / 5 partly right", "5.5 of 8 points from tests")),
    ):
        assert main(["check", f"submitted/{student}/{NAME}/small.ipynb"]) == status
        out = shown(capsys)
        assert all(line in out for line in lines) and "one-check" not in out
        assert "written answers: 2 points wait for marking" in out
    assert main(["check", f"submitted/cat/{NAME}/small.ipynb"]) == 0
    assert "one-test-more: this cell was missing and was restored" in shown(capsys)
    assert points(again) == before


@pytest.mark.slow
def test_a_cause_is_said_once_with_the_tests_that_it_failed(again: Path, capsys: Capture) -> None:
    """So is the error of a cell that stopped, whose names its tests miss; an unwritten exercise is one line."""
    raising = "def one(x=1):\n    raise ValueError('no')"
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": raising}))
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    out = shown(capsys)
    assert out.count("Your code raised") == 1 and "one-check, one-test-more: Your code raised" in out
    stopping = f"import no_such_thing\n{RIGHT['one']}"
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": stopping}))
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    out = shown(capsys)
    assert out.count("stopped before its end: one: <one>, line 1: import no_such_thing; ModuleNotFoundError:") == 1
    assert "two: <two>" not in out
    assert main(["check", f"submitted/eve/{NAME}/small.ipynb"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:3]] == [
        "one 0 / 3 not written yet".split(), "two 0 / 5 not written yet".split(), []
    ]  # fmt: skip


@pytest.mark.slow
def test_the_last_line_says_what_comes_next(again: Path, capsys: Capture) -> None:
    """The first exercise that is not right, with its place; if all are, to hand in or the next notebook."""
    for student, last in (
        ("eve", 'next: one in small.ipynb, below "Two exercises and a question" (not written yet)'),
        ("bob", 'next: two in small.ipynb, below "Two exercises and a question" (partly right)'),
        ("ann", "next: hand in"),
    ):
        main(["check", f"submitted/{student}/{NAME}/small.ipynb"])
        assert shown(capsys).endswith(last)
    shutil.copytree(again / "source" / NAME, again / "source" / "02-more")
    main(["check", f"submitted/ann/{NAME}/small.ipynb"])
    assert shown(capsys).endswith("next: hand in, or go on with 02-more/small.ipynb")


@pytest.mark.slow
def test_one_exercise_is_checked_with_all_that_it_builds_on(again: Path, capsys: Capture) -> None:
    """It gets the points that it gets in the whole notebook, and nothing is said of the others."""
    building, wrong = "def two():\n    return 2 * one()", "def two():\n    return one() - 1"
    for one, two, points_of_two in (
        (RIGHT["one"], building, 5),
        ("one = None", building, 5),
        (RIGHT["one"], wrong, 0),
    ):
        hand_in(again, "ann", answered(released(again), **RIGHT | {"one": one, "two": two}))
        status = main(["check", f"submitted/ann/{NAME}/small.ipynb", "--exercise", "two"])
        out = shown(capsys)
        assert status == (points_of_two != 5) and f"{points_of_two} of 5 points from tests" in out
        assert "one-" not in out and "written" not in out
    assert main(["check", f"submitted/bob/{NAME}/small.ipynb", "--exercise", "one", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [test["test"] for test in report["tests"]] == ["one-check", "one-test-more"] and report["points"] == 3
    assert main(["check", f"submitted/bob/{NAME}/small.ipynb", "--exercise", "three"]) == 1
    assert "has no exercise 'three'; it has one, two" in capsys.readouterr().err


@pytest.mark.slow
def test_our_solution_is_shown_for_an_answer_with_all_points(again: Path, capsys: Capture) -> None:
    """Without the markers of the source; otherwise one line says why not, and shows none of it."""
    ours = {"one": "def one(x=1):\n    return x\n", "two": "def two():\n    return 2\n"}
    for student, exercise, missing in (
        ("ann", "two", ""), ("bob", "one", ""), ("bob", "two", "two has 2.5 of 5 points"),
        ("eve", "one", "one has 0 of 3 points"), ("ann", "why", "has no exercise 'why'"),
    ):  # fmt: skip
        status = main(["check", f"submitted/{student}/{NAME}/small.ipynb", "--solution", exercise])
        out, err = capsys.readouterr()
        assert status == bool(missing) and missing in err and err.count("\n") == bool(missing)
        assert out == ("" if missing else ours[exercise])


@pytest.mark.slow
def test_all_notebooks_of_a_folder_are_checked(again: Path, capsys: Capture) -> None:
    """In the order of their names, with a total; one that cannot be checked costs the exit status and no other."""
    folder = again / "submitted" / "bob" / NAME
    shutil.copy(again / "source" / NAME / "small.ipynb", again / "source" / NAME / "again.ipynb")
    shutil.copy(again / "submitted" / "ann" / NAME / "small.ipynb", folder / "again.ipynb")
    assert main(["check", str(folder)]) == 1
    out = shown(capsys)
    assert out.index("again.ipynb") < out.index("8 of 8") < out.index("small.ipynb") < out.index("5.5 of 8")
    assert "13.5 of 16 points from tests in 2 notebooks; written answers: 4 points wait for marking" in out
    assert "next: two in small.ipynb" in out
    shutil.copy(folder / "again.ipynb", folder / "small.ipynb")
    assert main(["check", str(folder)]) == 0 and "16 of 16" in shown(capsys)
    (folder / "other.ipynb").write_text("{}")
    assert main(["check", str(folder)]) == 1
    out = shown(capsys)
    assert "not checked: no notebook of an assignment in source/ is called other.ipynb or has" in out
    assert "16 of 16" in out
    assert main(["check", str(folder), "--json"]) == 1
    assert "these options take one notebook" in capsys.readouterr().err


@pytest.mark.slow
def test_a_renamed_notebook_is_checked_by_its_name_or_its_cells(again: Path, capsys: Capture) -> None:
    """And a line names the notebook as which it was checked, unless it has its usual name."""
    work = again / "submitted" / "ann" / NAME / "small.ipynb"
    for name in ("small (1).ipynb", "Kopie von Small.ipynb", "small.ipynb.txt", "homework.ipynb", "other.json"):
        renamed = shutil.copy(work, again / name)
        assert main(["check", str(renamed)]) == 0
        out = shown(capsys)
        assert f"checked as {NAME}/small.ipynb" in out and "8 of 8" in out
    assert main(["check", str(work)]) == 0 and "checked as" not in shown(capsys)


@pytest.mark.slow
def test_checking_with_json_prints_the_published_report(again: Path, capsys: Capture) -> None:
    """Nothing but the report, as report.schema.json describes it, with the same exit status."""
    schema = json.loads((GRADER / "docs/report.schema.json").read_text())
    for student, status in (("ann", 0), ("bob", 1), ("cat", 0), ("dan", 1)):
        assert main(["check", "--json", f"submitted/{student}/{NAME}/small.ipynb"]) == status
        report = json.loads(capsys.readouterr().out)
        jsonschema.validate(report, schema)
        assert (report["points"], report["max_points"]) == (SCORES[student], 8)
        assert [test["test"] for test in report["tests"]] == ["one-check", "one-test-more", "two-check"]
        assert bool(report["repairs"]) == (student == "cat")


def test_checking_a_file_that_is_no_notebook_of_the_course_is_one_line(again: Path, capsys: Capture) -> None:
    """For a file that does not exist, is no notebook, or has another name, with what the student can do."""
    (again / "small.ipynb").write_text("{")
    (again / "renamed.ipynb").write_text("{}")
    for name, words in (
        ("small.ipynb", "is not JSON"),
        ("small.ipynb", "save it once more"),
        ("renamed.ipynb", "give it the name it was released with"),
        ("none/small.ipynb", "small.ipynb does not exist"),
        ("none.ipynb --watch", "none.ipynb does not exist"),
        ("submitted", "submitted has no notebooks"),
    ):
        assert main(["check", *name.split()]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("grader: ") and words in line


def test_a_notebook_is_checked_in_its_own_folder(again: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The course folder is searched for above the working folder; a file that does not exist is one line."""
    monkeypatch.chdir(again / "submitted" / "ann" / NAME)
    assert main(["check", "small.ipynb"]) == 0
    assert "8 of 8 points" in capsys.readouterr().out
    assert main(["check", "smal.ipynb"]) == 1
    assert capsys.readouterr().err == "grader: smal.ipynb does not exist: name one notebook\n"


@pytest.mark.slow
def test_checking_runs_no_configuration_but_that_of_the_course(
    again: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None beside the notebook or above it, wherever it lies and one works; without a course folder, nothing runs."""
    for place in ("submitted/eve", f"submitted/eve/{NAME}"):
        (again / place / "nbgrader_config.py").write_text("open('/dev/full', 'w').write('code of a student')\n")
        (again / place / "nbgrader_config.json").write_text('{"Limits": {"no_such_limit": 1}}')
    elsewhere = make_course(tmp_path / "elsewhere")
    (elsewhere / "nbgrader_config.py").write_text("raise SystemExit('code of a stranger')\n")
    right = again / f"submitted/ann/{NAME}/small.ipynb"
    own, strange = (shutil.copy(right, place) for place in (again / f"submitted/eve/{NAME}", elsewhere))
    for folder in (".", f"submitted/eve/{NAME}", "submitted/eve"):
        monkeypatch.chdir(again / folder)
        assert main(["check", str(own)]) == 0
    assert main(["check", strange]) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["check", strange]) == 1


def test_the_points_of_the_last_check_are_kept(again: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`start.ipynb` shows them. A check of one exercise says nothing about the notebook, and is not kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    remember(again)
    assert progress.notebooks(again / "release")[0].points is None
    shutil.copy(again / "submitted" / "bob" / NAME / "small.ipynb", again / "release" / NAME)
    main(["check", f"release/{NAME}/small.ipynb", "--exercise", "one"])
    assert progress.notebooks(again / "release")[0].points is None
    main(["check", f"release/{NAME}/small.ipynb"])
    assert progress.notebooks(again / "release")[0].points == 5.5
