"""Grades several answers to an exercise in one sandbox, which takes half the time where the tests are short.

answers --> one notebook of all, each with the tests behind it, our own last --run_job--> a report on each

A sandbox takes longer to start than most tests take. But a runner knows the outcome of a test for answers that reply
alike only where each answer has a sandbox of its own, so where tests are long, that is faster.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from nbformat import NotebookNode

from grader.engine.code_digest import with_kernel
from grader.engine.diagnosis.misconceptions import KnownMisconceptions
from grader.engine.limits import Limits
from grader.engine.notebook.names import names_bound
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import Role, Step, plan
from grader.engine.report import Report, Verdict
from grader.engine.rpc.jobs import Job
from grader.engine.supervisor.session import GradingFailed, run_job

REPEATABLE = {Verdict.PASSED, Verdict.FAILED, Verdict.ERROR, Verdict.OUTPUT_LIMIT}
"""Verdicts that follow from the submission alone. The others may come from a busy machine."""


def is_repeatable(report: Report) -> bool:
    """Return whether a report says the same of its submission on any machine at any time."""
    return not report.given_up and REPEATABLE.issuperset(result.verdict for result in report.results)


def tried_in_turn(
    source: NotebookNode,
    exercise: str,
    answers: Sequence[str],
    limits: Limits,
    *,
    sandbox: bool = True,
    helper_packages: tuple[str, ...] = (),
) -> list[Report] | None:
    """Return a report on each answer, without names of mistakes.

    Return None if an answer is to be graded by itself: one has cost the sandbox or left something behind, so that our
    own answer loses points after it.

    Args:
        source: the notebook up to the last test of the exercise, without other tests.
        exercise: the exercise.
        answers: the answers; mutants of ours, which do not try to deceive the ones behind them.
        limits: what each answer may use.
        sandbox: whether the kernel confines them.
        helper_packages: packages that the notebook imports.
    """
    outline = Outline(source)
    tried = [*answers, outline.reference(exercise)]
    steps, tests = _steps(source, outline, exercise, tried)
    limits = Limits(
        config=limits.config,
        cell_seconds=limits.cell_seconds,
        notebook_seconds=limits.notebook_seconds * len(tried),
    )
    # Without the reference cells, which would stand in for an answer that was tried before.
    job = Job(steps, KnownMisconceptions([], []))
    try:
        results = run_job(job, limits, sandbox=sandbox, helper_packages=with_kernel(helper_packages)).results
    except GradingFailed:
        return None
    *reports, last = [Report(results[first : first + tests]) for first in range(0, len(results), tests)]
    is_left_alone = all(result.points == result.max_points for result in last.results)
    return reports if is_left_alone and all(map(is_repeatable, reports)) else None


def _steps(source: NotebookNode, outline: Outline, exercise: str, answers: Sequence[str]) -> tuple[list[Step], int]:
    """Return the cells above the exercise once, and for each answer all from there on; and the number of its tests."""
    steps: list[Step] = []
    bound = set[str]()
    for turn, answer in enumerate(answers):
        own_steps = plan(outline.with_answer(exercise, answer), source)
        [begin] = [number for number, step in enumerate(own_steps) if step.name == exercise]
        shift = turn * (len(source.cells) + 1)
        if turn:
            # An answer that does not define its names must not find those of the one before.
            forget = f"for name in {sorted(bound | {'name'})}:\n    globals().pop(name, None)"
            steps.append(Step(shift - 1, "forget", Role.SANDBOX, forget))
        steps += [replace(step, index=step.index + shift) for step in (own_steps[begin:] if turn else own_steps)]
        for step in own_steps[begin:]:
            with suppress(SyntaxError):
                bound |= names_bound(step.source) if step.role is not Role.TEST else set()
    return steps, sum(step.role is Role.TEST for step in own_steps)
