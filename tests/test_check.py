"""`grader check` as a person runs it: its output, its exit status, and whose configuration it reads."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from grader.cli import main
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SCORES, hand_in, make_course, points, released

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_the_course(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of the graded class is the working folder."""
    monkeypatch.chdir(again)


def test_checking_one_notebook_shows_the_result_of_each_test(again: Path, capsys: Capture) -> None:
    """Without a gradebook; the exit status is 0 for full points only, so that a script can use it."""
    before = points(again)
    for student, status in (("ann", 0), ("bob", 1)):
        assert main(["check", f"submitted/{student}/{NAME}/small.ipynb"]) == status
        out = capsys.readouterr().out
        assert f"{SCORES[student]:g} of 8 points" in out and "one-test-more" in out
    assert main(["check", f"submitted/cat/{NAME}/small.ipynb"]) == 0
    assert "one-test-more: this cell was missing and is back" in " ".join(capsys.readouterr().out.split())
    assert points(again) == before


def test_checking_with_json_prints_the_published_report(again: Path, capsys: Capture) -> None:
    """Nothing but the report, as docs/report.schema.json describes it, with the same exit status."""
    schema = json.loads((REPOSITORY / "docs/report.schema.json").read_text())
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
        ("submitted", "is a folder: name one notebook"),
    ):
        assert main(["check", name]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("grader: ") and words in line


def test_checking_needs_the_source(again: Path, capsys: Capture) -> None:
    """A student may have a configuration file, and no sources."""
    shutil.rmtree(again / "source")
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    assert "has none in source/" in capsys.readouterr().err


def test_a_notebook_is_checked_in_its_own_folder(again: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The course folder is searched for above the working folder; a file that does not exist is one line."""
    monkeypatch.chdir(again / "submitted" / "ann" / NAME)
    assert main(["check", "small.ipynb"]) == 0
    assert "8 of 8 points" in capsys.readouterr().out
    assert main(["check", "smal.ipynb"]) == 1
    assert capsys.readouterr().err == "grader: smal.ipynb does not exist: name one notebook\n"


@pytest.mark.parametrize("folder", [".", f"submitted/eve/{NAME}", "submitted/eve"])
def test_checking_runs_no_configuration_that_a_student_wrote(
    again: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """It lies beside the notebook or above it, and the working folder is the course or the student's own folder."""
    for place in ("submitted/eve", f"submitted/eve/{NAME}"):
        (again / place / "nbgrader_config.py").write_text("open('/dev/full', 'w').write('code of a student')\n")
        (again / place / "nbgrader_config.json").write_text('{"Limits": {"no_such_limit": 1}}')
    monkeypatch.chdir(again / folder)
    notebook = again / f"submitted/eve/{NAME}/small.ipynb"
    shutil.copy(again / f"submitted/ann/{NAME}/small.ipynb", notebook)
    assert main(["check", str(notebook)]) == 0


def test_checking_a_notebook_elsewhere_runs_no_configuration_beside_it(
    again: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working folder's own course decides, wherever the notebook lies; without one, nothing runs."""
    elsewhere = make_course(tmp_path / "elsewhere")
    (elsewhere / "nbgrader_config.py").write_text("raise SystemExit('code of a stranger')\n")
    notebook = shutil.copy(again / f"submitted/ann/{NAME}/small.ipynb", elsewhere)
    assert main(["check", notebook]) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["check", notebook]) == 1


def test_checking_names_the_answer_that_stopped_and_its_error(again: Path, capsys: Capture) -> None:
    """Its tests report only a missing name, so the error is printed once below the table."""
    hand_in(again, "ann", answered(released(again), **RIGHT | {"one": "import no_such_thing\n" + RIGHT["one"]}))
    assert main(["check", f"submitted/ann/{NAME}/small.ipynb"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("stopped before its end: one: <one>, line 1: import no_such_thing; ModuleNotFoundError:") == 1
    assert "two: <two>" not in out
