"""Runs tests under other random numbers: what one draw does not show, another may.

Matrix --rows, each graded by copies of the drawing tests that it passed--> Matrix with Row.other_draws
"""

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.commands.prove.matrix import REFERENCE, Case, Kind, Matrix, Prover, Row, for_wrong_answers
from grader.engine.limits import Limits
from grader.engine.notebook.cells import grade_id
from grader.engine.report import Verdict
from grader.engine.supervisor.pool import side_by_side

if TYPE_CHECKING:
    from nbformat import NotebookNode

PROBE = """import torch as _torch
_before = _torch.get_rng_state(), _torch.Generator.source.getstate()
{test}
assert _torch.equal(_torch.get_rng_state(), _before[0]), "it draws"
assert _torch.Generator.source.getstate() == _before[1], "it draws"
"""
"""A test that fails if it draws random numbers, or the answer does while the test calls it."""


def with_other_draws(prover: Prover, cases: Sequence[Case], matrices: Sequence[Matrix], count: int) -> Iterator[Matrix]:
    """Yield each matrix once it says what its tests find under other random numbers.

    Right answers, known mistakes and surviving mutants are graded again; in a sample, its other mutants too.

    Args:
        prover: the one that made the matrices.
        cases: the exercises.
        matrices: the matrix of each of them; they are changed.
        count: the number of other draws of each test.

    Raises:
        SandboxUnavailable: the kernel cannot confine student code.
    """
    pool = ThreadPoolExecutor(side_by_side(prover.jobs))
    try:
        for case, matrix in zip(cases, matrices, strict=True):
            tests = drawing_tests(prover, case)
            graded = {id(row) for row in matrix.rows}
            rows = [
                (row, text)
                for row, text in case.rows
                if id(row) in graded and (row.kind is not Kind.MUTANT or not row.killed_by or prover.tenth is not None)
            ]
            futures = [pool.submit(_draw, prover, case, tests, row, text, count) for row, text in rows]
            for future in futures:
                future.result()
            matrix.draws = count
            yield matrix
    finally:
        pool.shutdown(cancel_futures=True)


def drawing_tests(prover: Prover, case: Case) -> set[str]:
    """Return the tests of an exercise whose outcome can depend on random numbers: they draw some with the reference."""
    probes = copy.copy(case.source)
    probes.cells = [
        type(cell)(cell, source=PROBE.format(test=cell.source)) if grade_id(cell) in case.tests else cell
        for cell in case.source.cells
    ]
    report = prover.report(probes, case.exercise, case.right[REFERENCE], prover.limits)
    return {result.name for result in report.results if result.points < result.max_points}


def _draw(prover: Prover, case: Case, tests: set[str], row: Row, answer: str, count: int) -> None:
    """Note by which other draws a row loses points, for the tests in which it lost none."""
    passed = tests - set(row.killed_by)
    if not passed or row.is_undecided:
        return
    is_right = row.kind is Kind.RIGHT
    limits = prover.limits if is_right else for_wrong_answers(prover.limits)
    source, draws_of = copies(case.source, passed, count)
    report = prover.report(source, case.exercise, answer, _longer(limits, count + 1))
    row.is_undecided = report.given_up
    if report.given_up:
        return
    for result in report.results:
        # One draw that never ends takes the time of all others, which says nothing about them.
        is_lost = result.points < result.max_points and (is_right or result.verdict is not Verdict.TIMED_OUT)
        if is_lost and (test := draws_of.get(result.name)):
            row.other_draws[test] = row.other_draws.get(test, 0) + 1


def copies(source: "NotebookNode", tests: set[str], count: int) -> tuple["NotebookNode", dict[str, str]]:
    """Return a source with copies of some tests behind each, and the test of each copy.

    The random numbers of a test follow from its name and its text, so each copy has others.
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


def _longer(limits: Limits, factor: int) -> Limits:
    return Limits(
        config=limits.config,
        cell_seconds=limits.cell_seconds,
        notebook_seconds=factor * limits.notebook_seconds,
    )
