"""`grader prove` says which tests are too weak, and which are too strict; a record explains what may survive."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.commands.cli import main
from grader.commands.prove import prover
from grader.commands.prove.console import as_json
from grader.commands.prove.fillings import Filling
from grader.commands.prove.matrix import AnswerRow, Kind, Matrix
from grader.commands.prove.prover import ExerciseToProve, Prover
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.outline import Outline
from tests.support.exercises import reference
from tests.support.notebooks import answer, check, helpers, hidden, notebook, text
from tests.support.records import MISTAKE, entry, write
from tests.support.small_class import NAME

Capture = pytest.CaptureFixture[str]

SOURCE = notebook(
    text("# Two exercises"),
    helpers("imports", "import math"),
    answer("root", "def root(x):\n    ### BEGIN SOLUTION\n    return math.sqrt(x)\n    ### END SOLUTION"),
    check("root-check", "assert root(4) == 2, 'The root of 4 is 2.'"),
    hidden("root-test-more", "root(x) is not only for 4.", "assert root(9) == 3, 'The root of 9 is 3.'"),
    answer("scaled", "def scaled(x, by):\n    ### BEGIN SOLUTION\n    return x * by\n    ### END SOLUTION"),
    check("scaled-check", "assert scaled(2, 3) == 6, 'Twice three is 6.'"),
    hidden("scaled-test-one", "By -1, the sign changes.", "assert scaled(5, -1) == -5, 'Less than none.'"),
)
WEAK = "# Run this cell.\nassert scaled(2, -1) == -2, 'The sign changes.'"
"""A check of `scaled` that finds too little: dividing does the same."""
DIVISION = "- return x * by\n+ return x / by"


def save(folder: Path, **cells: str) -> None:
    """Write the source with other text in some cells, whose names have `_` for `-`."""
    changed = nbformat.from_dict(SOURCE)
    for cell in changed.cells:
        cell.source = cells.get((grade_id(cell) or "").replace("-", "_"), cell.source)
    write(folder / "source" / NAME / "small.ipynb", nbformat.writes(changed))


def proved(capsys: Capture, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit status of the command, and what it prints with --json about the exercise `scaled`."""
    status = main(["prove", "--json", "--exercise", "scaled", *options])
    said = json.loads(capsys.readouterr().out)
    assert said["proven"] == (status == 0)
    (exercise,) = said["exercises"]
    return status, exercise


def surviving(exercise: dict[str, Any]) -> set[str]:
    """The edits of the mutants that no test finds."""
    return {row["edit"] for row in exercise["rows"] if row["kind"] == "mutant" and not row["killed_by"]}


@pytest.mark.slow
def test_tests_that_find_everything_are_proven(course: Path, capsys: Capture) -> None:
    """Exit status 0, and one row for each exercise of all assignments."""
    assert main(["prove"]) == 0
    out = capsys.readouterr().out
    assert "The tests find all that is wrong" in out and out.count(" ok") == 2
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith(("root ", "scaled "))}
    assert rows.keys() == {"root", "scaled"} and rows["root"][1] == "2"
    found, of = rows["scaled"][8], rows["scaled"][10]
    assert found == of and int(of) > 8


@pytest.mark.slow
def test_a_wrong_answer_that_no_test_finds_is_an_error(course: Path, capsys: Capture) -> None:
    """A mutant is shown with its edit, and so is the test that finds nothing new. No record explains a mistake."""
    save(course, scaled_check=WEAK)
    assert main(["prove", NAME]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "scaled: no test finds a mutant that exchanges the operator in line 3 - return x * by + return x / by" in out
    assert "These exercises are open: scaled." in out
    assert "scaled: finds only what other tests also find: scaled-check, scaled-test-one" in out
    write(course / "source" / NAME / "misconceptions/scaled.toml", MISTAKE.format(name="divides", replace="x / by"))
    write(course / "source" / NAME / "survivors/scaled.toml", entry(DIVISION))
    assert main(["prove", "--exercise", "scaled"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "scaled: no test finds the known mistake 'divides'" in out
    assert "the record has an entry for no survivor" in out


@pytest.mark.slow
def test_every_answer_says_which_tests_find_it(course: Path, capsys: Capture) -> None:
    """The JSON form has a row for each, and what follows from the rows."""
    write(course / "source" / NAME / "misconceptions/scaled.toml", MISTAKE.format(name="takes by", replace="by"))
    write(
        course / "tests/correct_answers" / NAME / "scaled/right-exchanged.py", "def scaled(x, by):\n    return by * x"
    )
    save(course, scaled_check=WEAK.replace("2, -1) == -2", "1, 3) == 3"))
    status, exercise = proved(capsys)
    rows = {(row["kind"], row["name"]): row for row in exercise["rows"]}
    assert rows["mistake", "takes by"]["killed_by"] == ["scaled-test-one"]
    assert rows["mistake", "takes by"]["edit"] == "- return x * by\n+ return by"
    assert not rows["right answer", "exchanged"]["killed_by"] and not rows["right answer", "reference"]["killed_by"]
    wrong = [row["killed_by"] for row in exercise["rows"] if row["kind"] in ("mistake", "mutant")]
    for test in exercise["tests"]:
        assert exercise["kills"][test] == sum(test in killed_by for killed_by in wrong) > 0
        assert exercise["kills_alone"][test] == sum(killed_by == [test] for killed_by in wrong)
    assert status == 0 and (exercise["assignment"], exercise["exercise"]) == (NAME, "scaled")


@pytest.mark.slow
def test_a_right_answer_that_loses_points_is_an_error(course: Path, capsys: Capture) -> None:
    """Also in a folder that --answers names; the tests that it loses are named. The reference is the first of them."""
    style = "def scaled(x, by):\n    return float(x * by) if by == 3 else 'never'"
    write(course / "styles" / NAME / "scaled/right-worded.py", style)
    assert main(["prove", "--exercise", "scaled", "--answers", "styles"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "scaled: the right answer 'worded' loses points in scaled-test-one" in out
    assert main(["prove", "--answers", "no-styles"]) == 1
    assert "--answers must name a folder" in capsys.readouterr().err
    save(course, scaled_check=WEAK.replace("== -2", "== 7"))
    status, exercise = proved(capsys)
    assert status == 1 and exercise["rows"][0]["killed_by"] == ["scaled-check"]


@pytest.mark.slow
def test_a_record_explains_survivors(course: Path, capsys: Capture) -> None:
    """Then the exercise is proven, whatever the layout of an edit is; an entry for no survivor is an error."""
    record = course / "source" / NAME / "survivors/scaled.toml"
    for edit in (DIVISION, "- return x * by\n+ return x ^ by"):
        write(record, entry(edit))
        status, exercise = proved(capsys)
        assert status == 1 and exercise["stale"] == [edit] and surviving(exercise) == set()
    record.unlink()
    save(course, scaled_check=WEAK)
    _, exercise = proved(capsys)
    assert DIVISION in surviving(exercise)
    write(record, entry(*(edit.replace("- ", "  - ") for edit in surviving(exercise))))
    status, explained = proved(capsys)
    assert status == 0 and surviving(explained) == surviving(exercise)
    assert all(row["reason"] for row in explained["rows"] if row["edit"] in surviving(exercise))


def test_a_record_with_a_defect_or_an_unknown_exercise_is_one_line(course: Path, capsys: Capture) -> None:
    """It names the file, or the exercises that there are, and nothing is graded."""
    assert main(["prove", "--exercise", "scales"]) == 1
    assert "no exercise is called 'scales'; known: root, scaled" in capsys.readouterr().err
    for content, complaint in (
        (entry(DIVISION, reason="it is fine"), "a reason begins with 'equivalent: ' or 'not forbidden: '"),
        (entry(DIVISION, DIVISION), "an edit is explained once"),
        (entry(DIVISION) + entry(DIVISION, reason="not forbidden: no"), "an edit is explained once"),
        (entry(DIVISION) * 2, "must be TOML"),
        (entry(""), "must have edits"),
        (entry(DIVISION, "- return 1"), "must have edits"),
        (entry("+ return 1", DIVISION), "must have edits"),
        (entry("return 1", DIVISION), "must have edits"),
        (entry(DIVISION) + "hint = 'no'", "hint"),
        (entry(DIVISION) + "'equivalent: no' = 1", "Expected `str`"),
        ("[[survivor", "must be TOML"),
        (None, "01-small has no 'scale'"),
    ):
        record = course / "source" / NAME / "survivors" / ("scaled.toml" if content else "scale.toml")
        write(record, content or entry(DIVISION))
        assert main(["prove"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"survivors/{record.name}" in line and complaint in line
        record.unlink()


def test_a_record_is_not_released(course: Path) -> None:
    """It shows solutions."""
    write(course / "source" / NAME / "survivors/scaled.toml", entry(DIVISION))
    assert main(["release"]) == 0
    assert [path.name for path in (course / "release" / NAME).iterdir()] == ["small.ipynb"]


@pytest.mark.slow
def test_a_tenth_is_drawn_by_its_seed(course: Path, capsys: Capture) -> None:
    """Always the same one, and never without the reference; an entry for a mutant outside it is not judged."""
    write(course / "source" / NAME / "survivors/scaled.toml", entry(DIVISION))
    tenths = {seed: proved(capsys, "--tenth", str(seed))[1] for seed in range(4)}
    assert proved(capsys, "--tenth", "2")[1] == tenths[2]
    drawn = {seed: {row["edit"] for row in tenth["rows"]} for seed, tenth in tenths.items()}
    assert all("" in edits for edits in drawn.values()) and len(set(map(frozenset, drawn.values()))) > 1
    assert all(tenth["stale"] == [DIVISION] * (DIVISION in drawn[seed]) for seed, tenth in tenths.items())


@pytest.mark.slow
def test_a_tenth_of_the_course_is_a_tenth() -> None:
    """Of one exercise, within the spread of chance; a sample has all trivial answers of an exercise or none."""
    exercise = ExerciseToProve("a", "beam-search", SOURCE, [], {}, {prover.REFERENCE: reference("beam-search")}, {})
    samples = [
        [row.kind for row, _ in exercise.rows if Prover(tenth=seed)._is_in_sample(exercise, row)] for seed in range(40)
    ]
    assert all(0.05 < len(sample) / len(exercise.rows) < 0.16 for sample in samples[:5])
    assert {sample.count(Kind.TRIVIAL) for sample in samples} == {0, len(Filling) - 1}


@pytest.mark.slow
def test_a_mistake_that_never_ends_costs_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found, whatever the course's own limits are; a right answer has the time that these give."""
    monkeypatch.setattr(prover, "CELL_SECONDS", 1)
    right = {"reference": "def root(x):\n    return x ** 0.5"}
    right["slow"] = "import time\ndef root(x):\n    time.sleep(1.5)\n    return x ** 0.5"
    endless = {"endless": "def root(x):\n    while True:\n        pass"}
    exercise = ExerciseToProve(
        NAME, "root", Outline(SOURCE).alone("root"), Outline(SOURCE).scored_tests("root"), endless, right, {}
    )
    exercise.rows[:] = [row for row in exercise.rows if row[0].kind in (Kind.RIGHT, Kind.MISTAKE)]
    (found,) = Prover(sandbox=False).matrices([exercise])
    assert found.is_proven() and found.rows[2].killed_by == ["root-check", "root-test-more"]


def test_an_answer_that_was_not_graded_is_no_proof() -> None:
    """It is neither found nor a survivor."""
    rows = [AnswerRow(Kind.MUTANT, "a", killed_by=["t"]), AnswerRow(Kind.MUTANT, "b", is_undecided=True)]
    found = Matrix("01", "e", ["t"], rows, [])
    assert found.surviving(Kind.MUTANT) == [] and found.undecided == rows[1:] and not found.is_proven()


def test_an_exercise_depends_on_a_test_that_alone_finds_most() -> None:
    """Two tests that find the same share the work. The JSON form calls an exercise thin that has a survivor, too."""
    both = [AnswerRow(Kind.MUTANT, str(number), killed_by=["s", "t"]) for number in range(2)]
    alone_in_t = [AnswerRow(Kind.MISTAKE, str(number), killed_by=["t"]) for number in range(3)]
    assert Matrix("01", "e", ["s", "t"], both + alone_in_t, []).depends_on_one_test()
    assert not Matrix("01", "e", ["s", "t"], both + alone_in_t[:2], []).depends_on_one_test()
    survived = Matrix("01", "e", ["s", "t"], [*both, AnswerRow(Kind.MUTANT, "none")], [])
    assert not survived.depends_on_one_test() and as_json([survived])["exercises"][0]["thin"]
    assert not as_json([Matrix("01", "e", ["s", "t"], both, [])])["exercises"][0]["thin"]
