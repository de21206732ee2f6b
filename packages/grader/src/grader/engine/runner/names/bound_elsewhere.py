"""Finds cells that bind a name of an exercise, but not for its tests: below its check, or in a cell that is not run.

All that the sandbox says of names comes from the visible pass, before it has met a hidden test.
"""

import re
from collections.abc import Sequence

from grader.engine.explanation import BoundAgain, Cause, Explanation, NotRun
from grader.engine.notebook.not_run import NotRunCell, bound_in
from grader.engine.notebook.plan import BLANK, Plan, Step
from grader.engine.rpc.protocol import CellDone
from grader.engine.runner.outcome import where_raised

MAX_NAMED = 3
"""Most cells that the explanation of one test names."""
Ran = Sequence[tuple[Step, CellDone]]
"""The cells that ran in the visible pass, and what they reported."""


def names_not_run(
    explanation: Explanation, answers: Sequence[Step], ran: Ran, not_run: list[NotRunCell], cells: dict[str, str]
) -> tuple[NotRun, ...]:
    """Return the cells that are not run and bind a name that was not defined.

    The missing name comes from the test or from the line that raised the error, never from the error itself, which
    could hold numbers of a hidden test.

    Args:
        explanation: why a test lost points.
        answers: the cells of its exercise.
        ran: the cells that ran.
        not_run: the cells that did not.
        cells: the sources of all cells by name.
    """
    lines = []
    if explanation.cause is Cause.RAISED and explanation.error == NameError.__name__:
        lines.append(explanation.where)
    missing = set[str]()
    if explanation.cause is Cause.UNDEFINED:
        missing.add(explanation.missing)
        errors = [(step, done.error) for step, done in ran if step in answers and done.error is not None]
        lines += [where_raised(error, cells, step) for step, error in errors if error.kind == NameError.__name__]
    missing |= {word for line in lines if line is not None for word in re.findall(r"\w+", line.text)}
    missing -= {name for _, done in ran for name in done.bound}
    if not missing or not not_run:
        return ()
    found = bound_in(not_run)
    return tuple(NotRun(name, found[name].name, found[name].kind) for name in sorted(missing & found.keys()))[
        :MAX_NAMED
    ]


def names_bound_again(test: Step, answers: Sequence[Step], ran: Ran, plan: Plan) -> tuple[BoundAgain, ...]:
    """Return the student's own cells between a check and a test that bind names of the exercise again.

    Names of the exercise are those that its tests use and that its answer binds, and those of earlier exercises that
    its answer mentions.

    Args:
        test: the test.
        answers: the cells of its exercise.
        ran: the cells that ran.
        plan: the notebook.
    """
    checks, words = plan.checks[test.index], set[str]()
    for answer in answers:
        if BLANK in answer.source:
            return ()  # whatever is below is an answer
        words.update(re.findall(r"\w+", answer.source))
    owners = plan.owners[test.index].items()
    names = {name: checks[owner] for name, owner in owners if owner == test.exercise or name in words}
    names |= {name: checks[test.exercise] for step, done in ran if step in answers for name in done.bound}
    bound = set[str]()
    found = list[BoundAgain]()
    for step, done in ran:
        if step.index > test.index:
            break
        below = {name for name in done.bound if plan.places[step.index] > names.get(name, plan.places[step.index])}
        if step.is_own:
            again = [BoundAgain(name, step.name, name in done.defined) for name in sorted(below & bound)]
            defined = {each.name for each in again if each.counts}
            found = [each for each in found if not (each.counts and each.name in defined)] + again
        bound.update(done.bound)
    return tuple(found[-MAX_NAMED:])
