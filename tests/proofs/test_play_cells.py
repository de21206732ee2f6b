"""A cell that a student adds below a green check, to play with the exercise, costs no points in the whole notebook."""

import copy

import pytest
from nbformat.v4 import new_code_cell

from tests.support.exercises import OUTLINES, SOURCES
from tests.support.judge import Judge

pytestmark = pytest.mark.slow

PLAY = {
    "linear": "linear = nn.Linear(2, 3)\nlinear(torch.randn(4, 2))",
    "dropout": "dropout = nn.Dropout(0.5)",
    "lstm": "lstm = nn.LSTM(3, 4)",
    "byte-pairs": "decode = None",
    "alibi": "alibi = alibi(2, 4)",
    "patchify": "patchify = patchify(torch.randn(1, 3, 8, 8), 4)\npatchify.shape",
    "vanilla-attention": "VanillaAttention = VanillaAttention(4)",
}
"""Cells of the student's own, by the exercise below whose check they stand."""


@pytest.mark.parametrize("exercise", PLAY)
def test_a_cell_that_plays_with_an_exercise_costs_nothing(judge: Judge, exercise: str) -> None:
    """Neither in this exercise nor in one that builds on it."""
    source = SOURCES[exercise]
    submission = copy.copy(source)
    place = OUTLINES[exercise].names.index(f"{exercise}-check") + 1
    submission.cells = [*source.cells[:place], new_code_cell(PLAY[exercise]), *source.cells[place:]]
    report = judge.report(source, submission)
    assert [result.message for result in report.results if result.points < result.max_points] == []
