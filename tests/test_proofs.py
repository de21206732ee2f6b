"""The tests of the course are themselves proven: every known mistake loses points, no right style does.

The mistakes stand in source/*/misconceptions.py, the right styles in tests/submissions/. Each is a submission of its
own and goes through the one function that grades.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pytest
from exercises import MISTAKES, REPOSITORY, SOURCES, lost, reference, submit

from course.grading.report import Report
from course.misconceptions import Misconception

STYLES = sorted((REPOSITORY / "tests" / "submissions").glob("*/*/right-*.py"))
LEAST_MISTAKES, LEAST_STYLES = 6, 3


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest) -> dict[object, Report]:
    """The reports on the references, mistakes and styles that the selected tests ask for, graded two at a time."""
    asked = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    found = (params[name] for params in asked for name in ("on_its_own", "mistake", "style") if name in params)
    cases = dict.fromkeys(found)
    if any(item.name == "test_nearly_every_mistake_is_named_to_who_made_it" for item in request.session.items):
        cases |= dict.fromkeys(MISTAKES)
    # An exercise at a time and in the order of the notebooks, for an examiner remembers what it has seen.
    exercises = [[case for case in cases if exercise_in(case) == exercise] for exercise in SOURCES]
    with ThreadPoolExecutor(2) as pool:
        judgements = pool.map(lambda exercise: [(case, judged(case)) for case in exercise], exercises)
        return dict(chain.from_iterable(judgements))


def exercise_in(case: str | Misconception | Path) -> str:
    """The exercise that a reference, a mistake or a style answers."""
    if isinstance(case, str):
        return case
    return case.exercise if isinstance(case, Misconception) else case.parent.name


def judged(case: str | Misconception | Path) -> Report:
    """The report on the reference of one exercise, one mistake or one style."""
    exercise = exercise_in(case)
    if isinstance(case, Path):
        return submit(exercise, case.read_text(), whole=True)
    right = reference(exercise)
    return submit(exercise, right if isinstance(case, str) else case.applied_to(right), whole=False)


@pytest.mark.parametrize("on_its_own", SOURCES)
def test_an_exercise_stands_alone(reports: dict[object, Report], on_its_own: str) -> None:
    """The reference keeps every point where mistakes are tried: what they lose there, they lose for themselves."""
    assert not lost(reports[on_its_own], on_its_own)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.exercise}: {mistake.name}")
def test_a_mistake_loses_points_in_its_own_exercise(reports: dict[object, Report], mistake: Misconception) -> None:
    """A student who makes a known mistake does not get full points for the exercise."""
    assert lost(reports[mistake], mistake.exercise), f"'{mistake.name}' passes every test of {mistake.exercise}"


def test_nearly_every_mistake_is_named_to_who_made_it(reports: dict[object, Report]) -> None:
    """The message of the first failed test says which mistake it is; few behave like another one or like none."""
    told = {mistake: " ".join(result.message for result in reports[mistake].results) for mistake in MISTAKES}
    nameless = [f"{mistake.exercise}: {mistake.name}" for mistake in MISTAKES if mistake.say not in told[mistake]]
    assert len(nameless) <= 0.1 * len(MISTAKES), nameless


@pytest.mark.parametrize("style", STYLES, ids=lambda style: f"{style.parent.name}: {style.stem}")
def test_a_right_answer_in_another_style_keeps_every_point(reports: dict[object, Report], style: Path) -> None:
    """However a right answer is written, it costs nothing, in its exercise and in those that build on it."""
    told = [f"{result.name}: {result.message}\n{result.log}" for result in reports[style].results if result.message]
    assert not told, "\n".join(told)


@pytest.mark.parametrize("exercise", SOURCES)
def test_an_exercise_is_proven_by_enough_cases(exercise: str) -> None:
    """There are at least six mistakes and three right styles for every exercise."""
    mistakes = [mistake.name for mistake in MISTAKES if mistake.exercise == exercise]
    assert len(set(mistakes)) == len(mistakes) >= LEAST_MISTAKES
    assert len([style for style in STYLES if style.parent.name == exercise]) >= LEAST_STYLES


@pytest.mark.parametrize("case", [*MISTAKES, *STYLES], ids=str)
def test_a_case_belongs_to_an_exercise(case: Misconception | Path) -> None:
    """No mistake and no style is left over from an exercise that is gone."""
    assert exercise_in(case) in SOURCES
