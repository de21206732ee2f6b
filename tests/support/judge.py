"""Grades submissions to the exercises of the course on demand, each once.

exercise, answer --> submission --grade, or proof_cache--> Report
exercise, answers --> one notebook of all, each with the tests behind it --run_job, or proof_cache--> Reports
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from nbformat import NotebookNode

from grader.engine.code_digest import with_kernel
from grader.engine.diagnosis.misconceptions import KnownMisconceptions, Misconception, known_misconceptions
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.names import names_bound
from grader.engine.notebook.plan import Role, Step, plan
from grader.engine.report import Report, Verdict
from grader.engine.rpc.jobs import Job
from grader.engine.supervisor import forkserver
from grader.engine.supervisor.session import GradingFailed, run_job
from tests.support.exercises import HELPER_PACKAGES, MISCONCEPTIONS, alone, reference
from tests.support.notebooks import with_answer
from tests.support.proof_cache import ProofCache, digest_of
from tests.support.schedule import own_processor

REPEATABLE = {Verdict.PASSED, Verdict.FAILED, Verdict.ERROR, Verdict.OUTPUT_LIMIT}
"""Verdicts that follow from the submission alone. The others may come from a busy machine."""
WITH_LONG_TESTS = {
    "alibi", "byte-pairs", "cached-attention", "cbam", "conv2d", "decoder-block", "decoder-layer", "eca",
    "encoder-layer", "greedy-decode", "grouped-query-attention", "index-lookup", "lstm", "multi-head-attention",
    "non-local", "scaled-dot-product-attention", "self-attention", "simplified-self-attention", "spatial-attention",
    "speculative-step", "squeeze-excitation", "summaries", "tiled-attention", "tiled-backward", "transformer",
    "vision-transformer",
}  # fmt: skip
"""Exercises whose tests take longer than the start of a sandbox, of which each answer is graded by itself.

A runner knows the outcome of a test for answers that reply alike, but not in turn. A wrong name costs time only.
"""


class Judge:
    """Grades submissions, one after the other.

    Args:
        cache: where reports are kept.
    """

    def __init__(self, cache: ProofCache) -> None:
        self._cache = cache
        self._processor = own_processor()
        forkserver.prepare(HELPER_PACKAGES)

    def report(
        self, source: NotebookNode, submission: NotebookNode, misconceptions: Iterable[Misconception] = ()
    ) -> Report:
        """Return what the grader says of a submission; for `misconceptions`, see `grade`."""
        misconceptions = known_misconceptions(source, list(misconceptions)).misconceptions

        def compute() -> Report:
            with on_processor(self._processor):
                return grade(source, submission, misconceptions=misconceptions, helper_packages=HELPER_PACKAGES)

        key = digest_of("report", source, submission, misconceptions, HELPER_PACKAGES)
        return self._cache.result(key, Report, compute)

    def on_its_own(self, exercise: str, answer: str, *, named: bool = True) -> Report:
        """Return the report on the reference with another answer to `exercise`, in the cells that this exercise needs.

        Misconceptions are `named` only on demand: that takes longer and changes no points.
        """
        source = alone(exercise)
        return self.report(source, with_answer(source, exercise, answer), MISCONCEPTIONS if named else ())

    def in_turn(self, exercise: str, answers: Sequence[str]) -> list[Report]:
        """Return what `on_its_own` returns for each of several answers, without names and in half the time.

        The answers are tried in one sandbox, and the reference comes last. If it loses a point there, an answer has
        left something behind; then, after the loss of a sandbox, and where tests take long, each answer is graded by
        itself.
        """
        if exercise in WITH_LONG_TESTS:
            return self._each_by_itself(exercise, answers)
        source = alone(exercise)
        tried = [*answers, reference(exercise)]

        def compute() -> list[Report]:
            with on_processor(self._processor):
                return _tried_in_turn(source, exercise, tried)

        key = digest_of("in turn", source, tried, HELPER_PACKAGES)
        *reports, last = self._cache.result(key, list[Report], compute)
        if all(map(is_repeatable, reports)) and all(result.points == result.max_points for result in last.results):
            return reports
        return self._each_by_itself(exercise, answers)

    def _each_by_itself(self, exercise: str, answers: Sequence[str]) -> list[Report]:
        return [self.on_its_own(exercise, answer, named=False) for answer in answers]

    def in_notebook(self, source: NotebookNode, answers: dict[str, str]) -> Report:
        """Return the report on a whole notebook of the course, with other answers to some exercises."""
        submission = source
        for exercise, answer in answers.items():
            submission = with_answer(submission, exercise, answer)
        return self.report(source, submission, MISCONCEPTIONS)


def _tried_in_turn(source: NotebookNode, exercise: str, answers: Sequence[str]) -> list[Report]:
    """Run the cells above an answer once, and for each of the answers all from there on; return a report on each."""
    steps: list[Step] = []
    bound = set[str]()
    for turn, answer in enumerate(answers):
        own_steps = plan(with_answer(source, exercise, answer), source)
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
    tests = sum(step.role is Role.TEST for step in own_steps)
    limits = Limits(notebook_seconds=Limits().notebook_seconds * len(answers))
    # Without the reference cells, which would stand in for an answer that was tried before.
    job = Job(steps, KnownMisconceptions([], []))
    try:
        results = run_job(job, limits, sandbox=True, helper_packages=with_kernel(HELPER_PACKAGES)).results
    except GradingFailed:
        return [Report(given_up=True)] * len(answers)
    return [Report(results[first : first + tests]) for first in range(0, len(results), tests)]


def is_repeatable(report: Report) -> bool:
    """Return whether a report says the same of its submission on any machine at any time."""
    return not report.given_up and REPEATABLE.issuperset(result.verdict for result in report.results)


def points(report: Report, exercise: str) -> dict[str, float]:
    """Return the points that each test of `exercise` gave."""
    return {result.name: result.points for result in report.results if result.exercise == exercise}


@contextmanager
def on_processor(processor: int) -> Iterator[None]:
    """Run this thread on one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
