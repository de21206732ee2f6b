"""The records of this course explain mutants that are still made; `grader prove` says whether they still survive."""

from pathlib import Path

import pytest

from grader.commands.prove import record
from grader.commands.prove.matrix import Kind, Prover
from tests.support.exercises import ASSIGNMENTS, sources
from tests.support.paths import REPOSITORY


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda path: path.name)
def test_every_entry_explains_a_mutant(assignment: Path) -> None:
    """A solution that has changed has other mutants, and its record must follow."""
    recorded = record.load(assignment, list(sources(assignment)))
    prover = Prover(answers=REPOSITORY / "tests/correct_answers", only=list(recorded))
    for case in prover.cases([assignment]):
        if case.reasons:
            edits = {row.edit for row, _ in case.rows if row.kind is Kind.MUTANT}
            assert all(record.EDIT.fullmatch(f"{edit}\n") for edit in edits), "a record could not hold them apart"
            assert case.reasons.keys() - edits == set(), case.exercise
