"""Grades submissions to the exercises of the course on demand, each once.

exercise, answer --> submission --grade, or proof_cache--> Report
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from nbformat import NotebookNode

from grader.engine.diagnosis.misconceptions import Misconception, known_misconceptions
from grader.engine.grading import grade
from grader.engine.report import Report, Verdict
from grader.engine.supervisor import forkserver
from tests.support.exercises import HELPER_PACKAGES, MISCONCEPTIONS, alone
from tests.support.notebooks import with_answer
from tests.support.proof_cache import ProofCache, digest_of, grader_digest
from tests.support.schedule import own_processor

REPEATABLE = {Verdict.PASSED, Verdict.FAILED, Verdict.ERROR, Verdict.OUTPUT_LIMIT}
"""Verdicts that follow from the submission alone. The others may come from a busy machine."""


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

        key = digest_of("report", grader_digest(), source, submission, misconceptions, HELPER_PACKAGES)
        return self._cache.result(key, Report, compute, is_repeatable)

    def on_its_own(self, exercise: str, answer: str, *, named: bool = True) -> Report:
        """Return the report on the reference with another answer to `exercise`, in the cells that this exercise needs.

        Misconceptions are `named` only on demand: that takes longer and changes no points.
        """
        source = alone(exercise)
        return self.report(source, with_answer(source, exercise, answer), MISCONCEPTIONS if named else ())

    def in_notebook(self, source: NotebookNode, answers: dict[str, str]) -> Report:
        """Return the report on a whole notebook of the course, with other answers to some exercises."""
        submission = source
        for exercise, answer in answers.items():
            submission = with_answer(submission, exercise, answer)
        return self.report(source, submission, MISCONCEPTIONS)


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
