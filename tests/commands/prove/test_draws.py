"""`grader prove --draws` says which tests miss a mistake, or spare a right answer, only by their random numbers."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from grader.commands.cli import main
from grader.commands.prove.draws import copies, drawing_tests, with_other_draws
from grader.commands.prove.matrix import Kind
from grader.commands.prove.prover import REFERENCE, ExerciseToProve, Prover
from grader.engine.notebook.outline import Outline
from grader.engine.runner.test_execution import Generator, seed_test
from tests.support.notebooks import answer, check, helpers, notebook
from tests.support.records import MISTAKE, entry, write
from tests.support.small_class import NAME

Capture = pytest.CaptureFixture[str]

DRAW = "import torch\ng = torch.Generator()\nseed = g.seed()\nby = int(torch.randint(3, (1,), generator=g))\n"
STRONG = f"{DRAW}assert scaled(by + 2, 3 + by) == (by + 2) * (3 + by), 'A product.'"
FIXED = "assert scaled(1, 2) == 2, 'Once two is two.'"
ANSWER = "def scaled(x, by):\n    ### BEGIN SOLUTION\n    return x * by\n    ### END SOLUTION"
SUM = MISTAKE.format(name="adds", replace="x + by")


def checked_with(drawn: int, assertion: str) -> str:
    """The text of the test `scaled-check-drawn` that draws this number of 0, 1 and 2: a comment decides."""
    for number in count():
        source = f"{DRAW}{assertion}\n# {number}"
        seed_test("scaled-check-drawn", source)
        generator = Generator()
        generator.seed()
        if int(torch.randint(3, (1,), generator=generator)) == drawn:
            return source
    raise AssertionError("unreachable")


WEAK = checked_with(2, "assert scaled(2, by) == 2 * by, 'Twice a number.'")
"""Adding does the same as multiplying only where the number is 2, as it is here."""


def save(folder: Path) -> None:
    """Write a known mistake."""
    write(folder / "source" / NAME / "misconceptions/scaled.toml", SUM)


def source(drawn: str, other: str = STRONG) -> nbformat.NotebookNode:
    """A source of one exercise with these two checks."""
    return notebook(
        helpers("imports", "import math"),
        answer("scaled", ANSWER),
        check("scaled-check-drawn", drawn),
        check("scaled-check-other", other),
    )


def proved(course: Path, capsys: Capture, notebook: nbformat.NotebookNode, *options: str) -> dict[str, Any]:
    """What the command says with --json about the exercise; the exit status agrees with it."""
    nbformat.write(notebook, course / "source" / NAME / "small.ipynb")
    status = main(["prove", "--json", *options])
    said = json.loads(capsys.readouterr().out)
    assert said["proven"] == (status == 0)
    (exercise,) = said["exercises"]
    return exercise


def row(exercise: dict[str, Any], name: str) -> dict[str, Any]:
    """The row of one answer."""
    return next(row for row in exercise["rows"] if row["name"] == name)


@pytest.mark.slow
def test_a_test_whose_own_draw_misses_a_mistake_is_listed_with_its_share(course: Path, capsys: Capture) -> None:
    """Another test finds the mistake, so that the exercise is proven: by a test that is not listed, in every draw."""
    exercise = proved(course, capsys, source(WEAK), "--draws", "12")
    assert row(exercise, "adds")["killed_by"] == ["scaled-check-other"] and exercise["draws"] == 12
    share = row(exercise, "adds")["other_draws"].pop("scaled-check-drawn")
    assert 2 < share < 12 and not row(exercise, "adds")["other_draws"]
    assert not row(exercise, REFERENCE)["other_draws"] and exercise["proven"]
    assert main(["prove", "--draws", "12"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"weak draw: scaled-check-drawn spares the mistake 'adds', and finds it in {share} of 12 other draws" in out


@pytest.mark.slow
def test_an_explained_survivor_that_another_draw_finds_is_an_error(course: Path, capsys: Capture) -> None:
    """Its reason is wrong: other random numbers show that it is not equivalent."""
    weak = source(WEAK, FIXED.replace("1, 2) == 2", "2, 2) == 4"))
    (course / "source" / NAME / "misconceptions/scaled.toml").unlink()
    edit = "- return x * by\n+ return x + by"
    write(course / "source" / NAME / "survivors/scaled.toml", entry(edit))
    exercise = proved(course, capsys, weak, "--draws", "12")
    (survivor,) = [row for row in exercise["rows"] if row["edit"] == edit]
    assert survivor["reason"] and not survivor["killed_by"] and survivor["other_draws"]["scaled-check-drawn"] > 2
    assert main(["prove", "--draws", "12"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "keeps its points by luck, and loses those of scaled-check-drawn in" in out and edit.split("\n")[1] in out


@pytest.mark.slow
def test_a_right_answer_that_keeps_its_points_by_luck_is_an_error(course: Path, capsys: Capture) -> None:
    """The reference loses points where the number is 0; without --draws, it keeps all of them."""
    lucky = source(checked_with(1, "assert scaled(by, -2) < 0, 'Less than nothing.'"))
    assert proved(course, capsys, lucky)["proven"]
    exercise = proved(course, capsys, lucky, "--draws", "12")
    share = row(exercise, REFERENCE)["other_draws"]["scaled-check-drawn"]
    assert 0 < share < 12 and not exercise["proven"]
    assert main(["prove", "--draws", "12"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    expected = "the right answer 'reference' keeps its points by luck, and loses those of scaled-check-drawn in"
    assert f"{expected} {share} of 12 other draws" in out


@pytest.mark.slow
def test_only_in_a_sample_a_found_mutant_is_graded_again(course: Path, capsys: Capture) -> None:
    """All of them would take hours."""
    (course / "source" / NAME / "misconceptions/scaled.toml").unlink()
    exercise = proved(course, capsys, source(WEAK), "--draws", "6")
    assert all(not row["other_draws"] for row in exercise["rows"])
    samples = [proved(course, capsys, source(WEAK), "--draws", "6", "--tenth", str(seed)) for seed in range(4)]
    assert any(row["other_draws"] and row["killed_by"] for sample in samples for row in sample["rows"])


def exercise_of(tests: nbformat.NotebookNode, **mistakes: str) -> ExerciseToProve:
    """The exercise `scaled` of a notebook, with these wrong answers to it."""
    outline = Outline(tests)
    names, right = outline.scored_tests("scaled"), {REFERENCE: outline.reference("scaled")}
    return ExerciseToProve(NAME, "scaled", outline.alone("scaled"), names, mistakes, right, {})


def test_a_test_draws_if_it_or_the_answer_takes_random_numbers() -> None:
    """A fixed seed is no draw, and neither is arithmetic."""
    random = "import torch\ndef scaled(x, by):\n    return x * by + 0 * float(torch.rand(()))"
    exercise = exercise_of(source(WEAK.replace("g.seed()", "g.manual_seed(2)"), FIXED))
    prover = Prover(sandbox=False)
    assert drawing_tests(prover, exercise) == set()
    exercise.right[REFERENCE] = random
    assert drawing_tests(prover, exercise) == set(exercise.tests)
    assert drawing_tests(prover, exercise_of(source(WEAK, FIXED))) == {"scaled-check-drawn"}


def test_a_test_that_does_not_draw_is_not_copied(capsys: Capture) -> None:
    """Neither are other cells; each copy has a name and a text of its own. A number below 0 is refused."""
    tests = source(WEAK, FIXED)
    copied, draws_of = copies(tests, {"scaled-check-drawn"}, 3)
    assert len(tests.cells) == 4 and len(copied.cells) == 7 and len({cell.source for cell in copied.cells}) == 7
    assert draws_of == {f"scaled-check-drawn-draw-{number}": "scaled-check-drawn" for number in range(3)}
    assert [cell.metadata.nbgrader.grade_id for cell in copied.cells[3:6]] == list(draws_of)
    with pytest.raises(SystemExit):
        main(["prove", "--draws", "-1"])
    assert "expected 0 or more; got -1" in capsys.readouterr().err


@pytest.mark.slow
def test_a_draw_that_never_ends_does_not_count_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their time is used up too, which says nothing about their numbers."""
    monkeypatch.setattr("grader.commands.prove.prover.CELL_SECONDS", 1)
    exercise = exercise_of(
        source(WEAK, FIXED), endless="def scaled(x, by):\n    while by == 0:\n        pass\n    return x * by"
    )
    exercise.rows[:] = [row for row in exercise.rows if row[0].kind in (Kind.RIGHT, Kind.MISTAKE)]
    prover = Prover(sandbox=False)
    (found,) = with_other_draws(prover, [exercise], list(prover.matrices([exercise])), 6)
    assert [row.other_draws for row in found.rows] == [{}, {}]
