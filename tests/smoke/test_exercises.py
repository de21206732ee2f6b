"""Each exercise once, as the grader judges it: our answer, the blank, a right style and two known mistakes.

Style and mistakes are drawn by the commit. tests/proofs tries all of them.
"""

from functools import cache

import nbformat

from tests.support.draw import some
from tests.support.exercises import NOTEBOOKS, SOURCES, STYLES, lost, misconceptions_of, reference
from tests.support.judge import Judge
from tests.support.notebooks import cell
from tests.support.paths import REPOSITORY
from tests.support.schedule import grouped


@cache
def released(exercise: str) -> nbformat.NotebookNode:
    """The students' notebook with this exercise."""
    path = next(path for path, notebook in NOTEBOOKS.items() if notebook is SOURCES[exercise])
    return nbformat.read(REPOSITORY / "release" / path.parent.name / path.name, as_version=4)


@grouped("exercise", SOURCES, group=str)
def test_an_exercise_accepts_right_answers_and_rejects_wrong_ones(judge: Judge, exercise: str) -> None:
    """Our answer and a right style keep every point, the blank has none, and two known mistakes lose some."""
    [style] = some([path for path in STYLES if path.parent.name == exercise], 1, lambda path: path.stem)
    mistakes = some(misconceptions_of(exercise), 2, lambda mistake: mistake.name)
    answers = {
        "our answer": reference(exercise),
        style.stem: style.read_text(),
        "the blank": cell(released(exercise), exercise).source,
        **{mistake.name: mistake.apply(reference(exercise)) for mistake in mistakes},
    }
    reports = dict(zip(answers, judge.in_turn(exercise, list(answers.values())), strict=True))
    for right in ("our answer", style.stem):
        assert [(result.name, result.message) for result in lost(reports[right], exercise)] == [], right
    own = [result for result in reports["the blank"].results if result.exercise == exercise]
    assert own and not any(result.points for result in own), "the blank has points"
    for mistake in mistakes:
        assert lost(reports[mistake.name], exercise), f"'{mistake.name}' passes every test"
