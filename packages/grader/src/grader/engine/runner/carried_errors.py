"""Carries errors forward: judges exercises again with our answers to earlier ones, so a mistake costs points once.

    exercise that lost points --builds on--> earlier ones that lost points --replaced by our answers--> a second run

In the second run our answers are in the process of the student's code, which can read them. So it yields one bit for an
exercise, whether every test passed, and the name of a known mistake, which is one of a short list.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from msgspec import structs

from grader.engine.explanation import Explanation
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.plan import BLANK, Role, Step
from grader.engine.report import Result


@dataclass(frozen=True)
class CarriedErrorRun:
    """Exercises to judge again, the earlier exercises to replace with our answers, and the cells that are needed.

    Cells that no exercise uses, such as a long training run, are left out to save time.
    """

    exercises: frozenset[str]
    replaced: frozenset[str]
    cells: frozenset[int]


def next_run(
    steps: list[Step], results: dict[int, Result], ours: dict[str, str], judged: set[str]
) -> CarriedErrorRun | None:
    """Return the next run that may give back points lost by earlier mistakes, or None if there is none left.

    Args:
        steps: the steps of the submission.
        results: the results of its tests so far, by index of the step. An exercise with full points in a second run is
            right and need not be replaced.
        ours: our own answers by exercise.
        judged: the exercises that have been judged again.
    """
    faulty = {step.exercise for step in steps if step.index in results and _lost(results[step.index])}
    run = None
    for step in steps:
        # A test that belongs to no exercise counts as an exercise with its own name.
        if step.role is Role.TEST or step.exercise not in faulty - judged or BLANK in step.source:
            continue
        needed = _needed(step.exercise, steps, ours)
        replaced = frozenset({other.exercise for other in needed if other is not step} & faulty & ours.keys())
        cells = frozenset(other.index for other in needed)
        if replaced and run is None:
            run = CarriedErrorRun(frozenset({step.exercise}), replaced, cells)
        elif run is not None and replaced == run.replaced:
            # Exercises with the same replaced answers share a run.
            run = CarriedErrorRun(run.exercises | {step.exercise}, replaced, run.cells | cells)
    return run


def with_our_answers(steps: list[Step], run: CarriedErrorRun, ours: dict[str, str]) -> list[Step]:
    """Return the steps that a run needs, with our answers to the exercises that it replaces."""
    return [
        replace(step, source=ours[step.name], is_ours=True) if step.name in run.replaced else step
        for step in steps
        if step.role is not Role.SANDBOX or step.index in run.cells or step.imports_only
    ]


def best_results(
    run: CarriedErrorRun, steps: list[Step], first: dict[int, Result], second: dict[int, Result]
) -> dict[int, Result]:
    """Return the second results of exercises that then passed all tests, by index of the step.

    Args:
        run: the exercises that were judged again.
        steps: the steps of the submission.
        first: the results of the first run.
        second: the results of the second run, without exercises for which there was no time.
    """
    counted: dict[int, Result] = {}
    for exercise in run.exercises:
        tests = [step.index for step in steps if step.role is Role.TEST and step.exercise == exercise]
        if second.keys() >= set(tests) and not any(_lost(second[index]) for index in tests):
            gradable = [index for index in tests if not second[index].is_ungradable]
            counted |= {index: _annotated(run, first[index], second[index]) for index in gradable}
    return counted


def _annotated(run: CarriedErrorRun, first: Result, second: Result) -> Result:
    """Return the second result with an explanation that quotes nothing of that run, which may quote our answers."""
    return structs.replace(second, explanation=Explanation(judged_with=tuple(sorted(run.replaced))), alone=first)


def _needed(exercise: str, steps: list[Step], ours: dict[str, str]) -> list[Step]:
    """Return the cells on which an exercise, its tests and our answer to it depend, and the cells of the exercise."""
    own = [step for step in steps if step.exercise == exercise]
    wanted = set().union(*(_named(names_used, step.source) for step in own), _named(names_used, ours.get(exercise, "")))
    needed = [step for step in own if step.role is not Role.TEST]
    for step in reversed(steps[: steps.index(needed[0])]):
        answer = ours.get(step.exercise, "") if step.exercise else ""
        if step.role is not Role.TEST and wanted & (_named(names_bound, step.source) | _named(names_bound, answer)):
            wanted |= _named(names_used, step.source) | _named(names_used, answer)
            needed.append(step)
    return needed


def _named(find: Callable[[str], Collection[str]], source: str) -> set[str]:
    try:
        return set(find(source))
    except (SyntaxError, ValueError):
        return set()  # a student's cell that Python cannot parse


def _lost(result: Result) -> bool:
    """Return whether the answer lost points; what a test lost by its own fault, no other answer gives back."""
    return result.points < result.max_points and not result.is_ungradable
