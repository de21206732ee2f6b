"""Grades rows again under other random numbers, to find tests that miss a mistake, or spare a right answer, by luck.

Matrix --rows, each graded by copies of the tests that it passed and that draw--> Matrix with AnswerRow.other_draws
"""

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from nbformat import NotebookNode

from grader.commands.prove.matrix import AnswerRow, Kind, Matrix
from grader.commands.prove.prover import REFERENCE, ExerciseToProve, Prover, failed
from grader.engine.limits import Limits
from grader.engine.notebook.cells import grade_id
from grader.engine.report import Verdict
from grader.engine.supervisor.pool import side_by_side

PROBE = """from grader.engine.runner.test_execution import random_states as _random_states
_before = _random_states()
{test}
assert _random_states() == _before, "it draws"
"""
"""A test that fails if it draws random numbers, or the answer does while the test calls it."""


def with_other_draws(
    prover: Prover, exercises: Sequence[ExerciseToProve], matrices: Sequence[Matrix], count: int
) -> Iterator[Matrix]:
    """Grade rows again under other random numbers, and yield each matrix with the results.

    These rows are right answers, known mistakes and surviving mutants; in a sample, all of its mutants.

    Args:
        prover: the one that made the matrices.
        exercises: the exercises.
        matrices: the matrix of each of them, which is changed.
        count: the number of other draws of each test.

    Raises:
        SandboxUnavailable: the kernel cannot confine student code.
    """
    pool = ThreadPoolExecutor(side_by_side(prover.jobs))
    try:
        for exercise, matrix in zip(exercises, matrices, strict=True):
            tests = drawing_tests(prover, exercise)
            graded = {id(row) for row in matrix.rows}
            futures = [
                pool.submit(_draw, prover, exercise, tests, row, text, count)
                for row, text in exercise.rows
                if id(row) in graded
                and row.kind is not Kind.TRIVIAL
                and (row.kind is not Kind.MUTANT or not row.killed_by or prover.tenth is not None)
            ]
            for future in futures:
                future.result()
            matrix.draws = count
            yield matrix
    finally:
        pool.shutdown(cancel_futures=True)


def drawing_tests(prover: Prover, exercise: ExerciseToProve) -> set[str]:
    """Return the tests whose result can depend on random numbers: those that draw some with the reference."""
    probes = copy.copy(exercise.source)
    probes.cells = [
        type(cell)(cell, source=PROBE.format(test=cell.source)) if grade_id(cell) in exercise.tests else cell
        for cell in exercise.source.cells
    ]
    return set(failed(prover.report(probes, exercise.name, exercise.right[REFERENCE], prover.limits)))


def _draw(prover: Prover, exercise: ExerciseToProve, tests: set[str], row: AnswerRow, answer: str, count: int) -> None:
    """Count the other draws in which a row loses points, for the tests in which it lost none."""
    passed = tests - set(row.killed_by)
    if not passed or row.is_undecided:
        return
    limits = prover.limits_for(row)
    longer = Limits(
        config=limits.config,
        cell_seconds=limits.cell_seconds,
        notebook_seconds=(count + 1) * limits.notebook_seconds,
    )
    source, draws_of = copies(exercise.source, passed, count)
    report = prover.report(source, exercise.name, answer, longer)
    row.is_undecided = report.given_up
    if report.given_up:
        return
    for result in report.results:
        # One draw that never ends takes the time of all others, which says nothing about them.
        counts = row.kind is Kind.RIGHT or result.verdict is not Verdict.TIMED_OUT
        if result.points < result.max_points and counts and (test := draws_of.get(result.name)):
            row.other_draws[test] = row.other_draws.get(test, 0) + 1


def copies(source: NotebookNode, tests: set[str], count: int) -> tuple[NotebookNode, dict[str, str]]:
    """Return a source with `count` copies behind each of some tests, and the test of each copy by its name.

    The random numbers of a test follow from its name and text, so each copy draws others.
    """
    cells: list[NotebookNode] = []
    draws_of: dict[str, str] = {}
    for cell in source.cells:
        cells.append(cell)
        name = grade_id(cell) or ""
        for number in range(count if name in tests else 0):
            twin = copy.deepcopy(cell)
            twin.metadata.nbgrader.grade_id = f"{name}-draw-{number}"
            twin.source += f"\n# draw {number}"
            cells.append(twin)
            draws_of[f"{name}-draw-{number}"] = name
    copied = copy.copy(source)
    copied.cells = cells
    return copied, draws_of
