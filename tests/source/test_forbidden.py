"""What the tags `without:WORD` forbid in a graded answer, the visible check forbids in the student's notebook.

The checks run in this process, after the cells above them, as in a kernel. They are the cells of the source: a release
takes nothing out of a visible check.
"""

import ast
import contextlib
import io
from functools import cache

import pytest
import torch

from grader.engine.diagnosis.misconceptions import HINTS
from grader.engine.notebook.cells import forbidden_words, grade_id
from grader.engine.notebook.plan import Role, Step, plan
from grader_kernel.without import rule
from tests.support.exercises import SOURCES, STYLES, alone, misconceptions_of, reference

TAGGED = {
    exercise: forbidden_words(cell)
    for exercise, notebook in SOURCES.items()
    for cell in notebook.cells
    if grade_id(cell) == exercise and forbidden_words(cell)
}
"""The words in the names of forbidden functions, by exercise."""
LSTM = """
def lstm(x, state, W_ih, W_hh, b_ih, b_hh, reverse=False):
    x, weights = x.flip(1) if reverse else x, (W_ih, W_hh, b_ih, b_hh)
    out, h_n, c_n = torch.lstm(x, [part[None] for part in state], weights, True, 1, 0.0, False, False, True)
    return out.flip(1) if reverse else out, (h_n[0], c_n[0])
"""
BY_TORCH = {
    (exercise, misconception.name): misconception.apply(reference(exercise))
    for exercise in TAGGED
    for misconception in misconceptions_of(exercise)
    if misconception.hint == HINTS["torch_does_it"]
} | {("lstm", "leaves the work to torch's LSTM"): LSTM}
"""Answers whose numbers are right and whose work is torch's, by exercise and name."""
BY_HAND = {(exercise, "reference"): reference(exercise) for exercise in TAGGED} | {
    (style.parent.name, style.stem): style.read_text() for style in STYLES if style.parent.name in TAGGED
}
"""Right answers, by exercise and name."""


def steps(exercise: str) -> list[Step]:
    """The cells that a kernel runs up to the visible check, which is the last one."""
    all_steps = plan(alone(exercise))
    [end] = [number for number, step in enumerate(all_steps) if step.name == f"{exercise}-check"]
    return [step for step in all_steps[:end] if step.role is not Role.TEST] + [all_steps[end]]


def run(exercise: str, answer: str) -> None:
    """Run the visible check of an exercise with this answer to it."""
    *above, check = steps(exercise)
    memory: dict[str, object] = {"__name__": "__main__"}
    with torch.random.fork_rng(), contextlib.redirect_stdout(io.StringIO()):
        torch.manual_seed(0)
        for step in above:
            exec(answer if step.name == exercise else step.source, memory)
        exec(check.source, memory)


@cache
def words_of(exercise: str) -> frozenset[str]:
    """The words that the visible check of an exercise forbids."""
    calls = [node for node in ast.walk(ast.parse(steps(exercise)[-1].source)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "without"]
    return frozenset(ast.literal_eval(word) for call in calls for word in call.args)


@pytest.mark.parametrize("exercise", TAGGED)
def test_a_check_forbids_the_words_of_the_tags(exercise: str) -> None:
    """So both worlds refuse the same functions."""
    assert words_of(exercise) == set(TAGGED[exercise])
    assert steps(exercise)[-1].forbidden == TAGGED[exercise]
    assert exercise in {name for name, _ in BY_TORCH}, "an answer by torch shows below that the check fails"


@pytest.mark.parametrize(("exercise", "answer"), BY_TORCH)
def test_an_answer_by_torch_fails(exercise: str, answer: str) -> None:
    """Its numbers are right, so nothing else in the check would find it."""
    with pytest.raises(AssertionError) as error:
        run(exercise, BY_TORCH[exercise, answer])
    assert str(error.value).endswith(rule(TAGGED[exercise]))


@pytest.mark.parametrize(("exercise", "answer"), BY_HAND)
def test_a_right_answer_passes(exercise: str, answer: str) -> None:
    """Nothing that it needs is forbidden."""
    run(exercise, BY_HAND[exercise, answer])
