"""The explained survivors of this course are mutants that are still made; `grader prove` checks that they survive."""

from pathlib import Path

import pytest

from grader.commands.prove import survivors
from grader.commands.prove.matrix import Kind
from grader.commands.prove.prover import Prover
from tests.support.exercises import ASSIGNMENTS, sources
from tests.support.paths import REPOSITORY

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda path: path.name)
def test_every_entry_explains_a_mutant(assignment: Path) -> None:
    """A solution that has changed has other mutants, and its record must follow."""
    recorded = survivors.load(assignment, list(sources(assignment)))
    prover = Prover(answers=REPOSITORY / "tests/correct_answers", only=list(recorded))
    for exercise in prover.exercises([assignment]):
        if exercise.reasons:
            edits = {row.edit for row, _ in exercise.rows if row.kind is Kind.MUTANT}
            assert all(survivors.EDIT.fullmatch(f"{edit}\n") for edit in edits), "a record could not hold them apart"
            assert exercise.reasons.keys() - edits == set(), exercise.name
